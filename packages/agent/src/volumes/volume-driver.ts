import type { Volumes } from '../host-driver.ts';
import type { DiskSpec } from '../spec.ts';
import type { DiskSource } from './disk-source.ts';

/** A way to keep disks on a host. */
export type VolumeDriver = Volumes & {
  /** Fails with `disk_missing` where there is no such disk. */
  locate(disk: DiskSpec): Promise<DiskSource>;
  /**
   * Before an emulator grows a disk it has open: makes the room that it cannot make itself. Also
   * what grows a shared volume that guests have. May be repeated, and never shrinks.
   */
  prepareGrowth(disk: DiskSpec): Promise<void>;
};

/** Whether a domain has the disk open, as the hypervisor knows. */
export type IsInUse = (diskId: string) => Promise<boolean>;
