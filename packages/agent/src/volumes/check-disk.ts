import { HostFailure } from '../base/failure.ts';
import type { Volume } from '../host-driver.ts';
import type { DiskSpec } from '../spec.ts';

/**
 * No dot, no slash and nothing that a shell or LVM interprets: ids become names of files and
 * volumes.
 */
const DISK_ID = /^[A-Za-z0-9][A-Za-z0-9-]{0,63}$/;
const BLOCK_SIZES = [0, 512, 4096];

export function isDiskId(text: string): boolean {
  return DISK_ID.test(text);
}

export function checkDiskId(diskId: string): void {
  if (!isDiskId(diskId)) {
    throw new HostFailure('bad_disk', `${JSON.stringify(diskId)} is not a valid disk id`);
  }
}

/** Returns the size that a disk should have. Throws if no disk can have it. */
export function checkDisk({ id, sizeBytes, blockSize }: DiskSpec): number {
  checkDiskId(id);
  if (!BLOCK_SIZES.includes(blockSize)) {
    throw new HostFailure('bad_disk', `disk ${id}: a block has 512 or 4096 bytes`);
  }
  const size = Number(sizeBytes);
  if (!Number.isSafeInteger(size) || size <= 0 || size % (blockSize || 512) !== 0) {
    const block = blockSize || 512;
    const message = `disk ${id}: ${sizeBytes} bytes is not a multiple of the block size ${block}`;
    throw new HostFailure('bad_disk', message);
  }
  return size;
}

/** Returns the new size if the disk must grow, otherwise null. */
export function checkGrowth(disk: DiskSpec, existing: Volume | null): number | null {
  const wanted = checkDisk(disk);
  if (existing === null) throw diskMissing(disk.id);
  const size = Number(existing.sizeBytes);
  if (wanted < size) {
    const message = `disk ${disk.id} has ${size} bytes and cannot be made smaller`;
    throw new HostFailure('disk_shrink', message);
  }
  return wanted === size ? null : wanted;
}

export function diskMissing(diskId: string): HostFailure {
  return new HostFailure('disk_missing', `disk ${diskId} is not on this host`);
}

export function checkSnapshotId(snapshotId: string): void {
  if (!isDiskId(snapshotId)) {
    const message = `${JSON.stringify(snapshotId)} is not a valid snapshot id`;
    throw new HostFailure('bad_snapshot', message);
  }
}

export function snapshotMissing(snapshotId: string): HostFailure {
  return new HostFailure('snapshot_missing', `snapshot ${snapshotId} is not on this host`);
}

export function diskInUse(diskId: string): HostFailure {
  return new HostFailure('disk_in_use', `disk ${diskId} is open: detach it, or stop its VM`);
}

export function imageTooLarge(disk: DiskSpec, imageBytes: number): HostFailure {
  const message = `disk ${disk.id} has ${disk.sizeBytes} bytes, and its image needs ${imageBytes}`;
  return new HostFailure('image_too_large', message);
}
