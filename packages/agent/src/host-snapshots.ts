import type { DiskSpec } from './spec.ts';

/**
 * Snapshots of the disks that the host stores. A snapshot depends on no disk, and a disk made from it depends on no
 * snapshot. Like everything else, it exists completely or not at all. An aborted call leaves nothing.
 */
export type Snapshots = {
  /** Whether `make` takes no time, and works while a guest writes to the disk. */
  readonly isInstant: boolean;
  /** Returns the ids of all complete snapshots, in no order. */
  list(): Promise<string[]>;
  has(snapshotId: string): Promise<boolean>;
  /**
   * Makes a snapshot unless it exists. Throws `disk_in_use` if a guest writes to the disk and the copy would not be of
   * one moment: then the hypervisor has to copy it.
   */
  make(snapshotId: string, diskId: string, signal: AbortSignal): Promise<void>;
  /** Makes an empty file that a hypervisor can copy the disk of a running guest to. */
  prepareCopy(snapshotId: string, diskId: string): Promise<CopyTarget>;
  /** Where the copy of an earlier call is. */
  readTarget(snapshotId: string): Promise<CopyTarget>;
  /** The hypervisor has copied the disk: makes the snapshot of the copy, which is removed. */
  finishCopy(snapshotId: string, signal: AbortSignal): Promise<void>;
  /** Removes a copy that was not finished. A snapshot that exists stays. */
  discardCopy(snapshotId: string): Promise<void>;
  /** Removes the snapshot, or what is left of an attempt to make it. */
  remove(snapshotId: string): Promise<void>;
  /** Calls `read` with the content of the snapshot, which cannot be removed meanwhile. Throws `snapshot_missing`. */
  withContent<T>(snapshotId: string, read: (content: SnapshotContent) => Promise<T>): Promise<T>;
  /** Creates the disk with the content of the snapshot. An existing disk is left unchanged. */
  createDisk(disk: DiskSpec, snapshotId: string, signal: AbortSignal): Promise<void>;
  /**
   * Replaces the content of a disk that no domain uses. Until it returns the disk has its earlier content or, after a
   * crash, may be missing until the call is repeated.
   */
  restoreDisk(restore: RestoredDisk, signal: AbortSignal): Promise<void>;
};

/** `data` is in the order of the content, and leaves out parts that are zeroes. */
export type SnapshotContent = {
  sizeBytes: number;
  data: AsyncIterable<{ offset: number; data: Buffer }>;
};

export type RestoredDisk = { diskId: string; snapshotId: string; sizeBytes: string };
/** In a raw file, the backup job of QEMU allocates what is zeroes, so a copy would have the size of the disk. */
export type CopyTarget = { path: string; format: 'qcow2' };

/** A copy of a disk of a running guest, at the moment at which it begins. */
export type DiskCopying = {
  diskId: string;
  target: CopyTarget;
  /** Called before a new copy begins, and not for one that an agent before this one began. Throws if none may begin. */
  prepare(): Promise<void>;
  /** The moment has passed. */
  begun(): void;
  /** Ends the wait. The copy goes on for the next agent, unless the reason is `NotWanted`. */
  signal: AbortSignal;
};

/** Why work is aborted whose result is not wanted any more. */
export class NotWanted extends Error {
  override name = 'NotWanted';
}
