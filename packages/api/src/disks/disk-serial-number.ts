/** What the guest sees as the disk's serial. virtio-blk carries 20 bytes; the tail of the id is its random part. */
export function diskSerialNumber(diskId: string): string {
  return diskId.replaceAll('-', '').slice(-20);
}
