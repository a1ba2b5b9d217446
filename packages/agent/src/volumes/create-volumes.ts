import type { Log } from '@gantry/daemon/log';
import { createKeyedQueue } from '../base/queue.ts';
import { programRunner, type RunProgram } from '../base/run-program.ts';
import type { Volume } from '../host-driver.ts';
import type { Snapshots } from '../host-snapshots.ts';
import type { ImageCache } from '../images/image-cache.ts';
import type { DiskSpec } from '../spec.ts';
import { cephfsDriver } from './cephfs/cephfs-driver.ts';
import type { ShareMounts } from './cephfs/share-mounts.ts';
import { fileDriver } from './file-driver.ts';
import { lvmDriver } from './lvm-driver.ts';
import { rbdDriver } from './rbd-driver.ts';
import { ProjectLimits } from './shared/project-limits.ts';
import { projectPrograms } from './shared/project-programs.ts';
import { readQuotaMount } from './shared/quota-mount.ts';
import { sharedDriver } from './shared/shared-driver.ts';
import type { StorageNetwork } from './storage-network.ts';
import type { BlockDriver, IsInUse } from './volume-driver.ts';

export type VolumesOptions = (
  | { driver: 'file'; directory: string }
  | { driver: 'lvm'; volumeGroup: string; thinPool: string | null }
) & {
  /** The directory of shared volumes: local, or on a mounted cluster file system. */
  sharedDirectory: string;
  /** How the host reaches storage clusters. Null or absent: it has no address there. */
  storageNetwork?: StorageNetwork | null;
  /** Where shared volumes of storage clusters are mounted. Null or absent: nowhere. */
  shareMounts?: ShareMounts | null;
  images: ImageCache;
  isInUse: IsInUse;
  /** The share of a file system or thin pool that new disks leave free. Absent: none. */
  reservePercent?: number | undefined;
  run?: RunProgram;
  /** Absent: shared volumes whose sizes are not enforced are not logged. */
  log?: Pick<Log, 'warn'>;
};

/** All disks of a host: those that it stores, by the chosen driver or as directories, and volumes of storage clusters. */
export function createVolumes(options: VolumesOptions): BlockDriver {
  const { images, isInUse, sharedDirectory, reservePercent, log } = options;
  const run = options.run ?? programRunner('storage_failed');
  const common = { images, isInUse, reservePercent, run };
  const block =
    options.driver === 'file'
      ? fileDriver({ ...common, directory: options.directory })
      : lvmDriver({ ...common, volumeGroup: options.volumeGroup, thinPool: options.thinPool });
  const limits = new ProjectLimits({
    programs: projectPrograms(run),
    readMount: () => readQuotaMount(sharedDirectory),
  });
  const shared = sharedDriver({ directory: sharedDirectory, isInUse, limits, log });
  const { storageNetwork: network = null, shareMounts: mounts = null } = options;
  const rbd = rbdDriver({ network, isInUse });
  const cephfs = cephfsDriver({ network, mounts, isInUse });
  const driverOf = (disk: DiskSpec) => {
    if (disk.rbd) return rbd;
    if (disk.cephfs) return cephfs;
    return disk.kind === 'DISK_KIND_SHARED_VOLUME' ? shared : block;
  };
  // Serialises the changes of one disk: a VM and the host's own disk list may both name it.
  const enqueue = createKeyedQueue();

  const read = async (diskId: string): Promise<Volume | null> =>
    (await block.read(diskId)) ?? (await shared.read(diskId));

  const snapshots: Snapshots = {
    ...block.snapshots,
    createDisk: (disk, snapshotId, signal) =>
      enqueue(disk.id, () => block.snapshots.createDisk(disk, snapshotId, signal)),
    restoreDisk: (restore, signal) =>
      enqueue(restore.diskId, () => block.snapshots.restoreDisk(restore, signal)),
  };

  return {
    snapshots,
    list: async () => [...new Set([...(await block.list()), ...(await shared.list())])],
    read,
    create: (disk, image) => enqueue(disk.id, () => driverOf(disk).create(disk, image)),
    grow: (disk) => enqueue(disk.id, () => driverOf(disk).grow(disk)),
    prepareGrowth: (disk) => enqueue(disk.id, () => driverOf(disk).prepareGrowth(disk)),
    remove: (diskId) =>
      enqueue(diskId, async () => {
        await block.remove(diskId);
        await shared.remove(diskId);
        await rbd.remove(diskId);
      }),
    locate: (disk) => driverOf(disk).locate(disk),
  };
}
