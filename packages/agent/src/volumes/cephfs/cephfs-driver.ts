import { HostFailure } from '../../base/failure.ts';
import type { DiskSpec } from '../../spec.ts';
import { checkDisk, checkDiskId, diskInUse } from '../check-disk.ts';
import { requireFenceable, type StorageNetwork } from '../storage-network.ts';
import type { IsInUse, VolumeDriver } from '../volume-driver.ts';
import type { Share } from './share.ts';
import type { ShareMounts } from './share-mounts.ts';

/**
 * Shared volumes as directories of a CephFS file system. The control plane creates, grows and removes them; a host only
 * mounts them. It can neither look for others nor change the quota, so `list` and `read` show nothing.
 */
export type CephfsDriverOptions = {
  /** Null: this host has no address in a storage network. */
  network: StorageNetwork | null;
  /** Null as well then. */
  mounts: ShareMounts | null;
  isInUse: IsInUse;
};

export function cephfsDriver({ network, mounts, isInUse }: CephfsDriverOptions): VolumeDriver {
  return {
    list: async () => [],

    async read(diskId) {
      checkDiskId(diskId);
      return null;
    },

    async create(disk, image) {
      checkShare(disk);
      if (!image) return;
      const message = `disk ${disk.id} is a shared volume, and no VM boots from one`;
      throw new HostFailure('bad_disk', message);
    },

    /** The control plane has grown it already, or will. */
    async grow(disk) {
      checkShare(disk);
    },

    async remove(diskId) {
      checkDiskId(diskId);
      if (await isInUse(diskId)) throw diskInUse(diskId);
    },

    async locate(disk) {
      const share = checkShare(disk);
      if (network === null || mounts === null) {
        const message =
          `disk ${disk.id} is a shared volume of a storage cluster, and this host has no address there: ` +
          'set GANTRY_STORAGE_ADDRESS';
        throw new HostFailure('storage_misrouted', message);
      }
      await requireFenceable(network, share.monitors);
      return { type: 'directory', path: await mounts.ensure(share) };
    },

    async prepareGrowth(disk) {
      checkShare(disk);
    },
  };
}

function checkShare(disk: DiskSpec): Share {
  checkDisk(disk);
  if (disk.cephfs) return disk.cephfs;
  throw new HostFailure('bad_disk', `disk ${disk.id} is no shared volume of a storage cluster`);
}
