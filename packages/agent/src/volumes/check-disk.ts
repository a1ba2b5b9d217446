import { HostFailure } from '../base/failure.ts';
import type { Volume } from '../host-driver.ts';
import type { DiskSpec } from '../spec.ts';

/** No dot, no slash, nothing a shell or LVM reads: ids become names of files and volumes. */
const DISK_ID = /^[A-Za-z0-9][A-Za-z0-9-]{0,63}$/;
const BLOCK_SIZES = [0, 512, 4096];

export function checkDiskId(diskId: string): void {
  if (!DISK_ID.test(diskId)) {
    throw new HostFailure('bad_disk', `${JSON.stringify(diskId)} cannot be the id of a disk`);
  }
}

/** The size a disk should have, if a disk can have it. */
export function checkDisk({ id, sizeBytes, blockSize }: DiskSpec): number {
  checkDiskId(id);
  if (!BLOCK_SIZES.includes(blockSize)) {
    throw new HostFailure('bad_disk', `disk ${id}: a block has 512 or 4096 bytes`);
  }
  const size = Number(sizeBytes);
  if (!Number.isSafeInteger(size) || size <= 0 || size % (blockSize || 512) !== 0) {
    const block = blockSize || 512;
    const message = `disk ${id}: ${sizeBytes} bytes are no whole number of blocks of ${block}`;
    throw new HostFailure('bad_disk', message);
  }
  return size;
}

/** By how much a disk has to grow: nothing, or to the size answered. */
export function checkGrowth(disk: DiskSpec, existing: Volume | null): number | null {
  const wanted = checkDisk(disk);
  if (existing === null) throw diskMissing(disk.id);
  const size = Number(existing.sizeBytes);
  if (wanted < size) {
    const message = `disk ${disk.id} has ${size} bytes and is never made smaller`;
    throw new HostFailure('disk_shrink', message);
  }
  return wanted === size ? null : wanted;
}

export function diskMissing(diskId: string): HostFailure {
  return new HostFailure('disk_missing', `disk ${diskId} is not on this host`);
}

export function diskInUse(diskId: string): HostFailure {
  return new HostFailure('disk_in_use', `disk ${diskId} is open: detach it, or stop its VM`);
}

export function imageTooLarge(disk: DiskSpec, imageBytes: number): HostFailure {
  const message = `disk ${disk.id} has ${disk.sizeBytes} bytes, and its image needs ${imageBytes}`;
  return new HostFailure('image_too_large', message);
}
