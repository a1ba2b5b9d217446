import type { Volumes } from '../host-driver.ts';
import type { Snapshots } from '../host-snapshots.ts';
import type { DiskSpec } from '../spec.ts';
import type { DiskSource } from './disk-source.ts';

/** A way to store disks on a host. */
export type VolumeDriver = Volumes & {
  /** Throws `disk_missing` if there is no such disk. */
  locate(disk: DiskSpec): Promise<DiskSource>;
  /**
   * Called before an emulator grows a disk it has open: makes the space that the emulator cannot
   * make itself. Also grows a shared volume that guests use. Idempotent, and never shrinks.
   */
  prepareGrowth(disk: DiskSpec): Promise<void>;
};

/** A way to store block devices, which can have snapshots. */
export type BlockDriver = VolumeDriver & { readonly snapshots: Snapshots };

/** Whether a domain has the disk open, according to the hypervisor. */
export type IsInUse = (diskId: string) => Promise<boolean>;
