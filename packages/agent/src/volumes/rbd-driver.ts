import { HostFailure } from '../base/failure.ts';
import type { DiskSpec } from '../spec.ts';
import { checkDisk, checkDiskId, diskInUse } from './check-disk.ts';
import type { RbdSource } from './disk-source.ts';
import { passphraseUuidOf, secretUuidOf } from './secret-uuid.ts';
import { requireFenceable, type StorageNetwork, writeCephConf } from './storage-network.ts';
import type { IsInUse, VolumeDriver } from './volume-driver.ts';

/**
 * Disks as volumes of a Ceph cluster. The control plane creates, grows and removes volumes; a host only opens them.
 * The host cannot look into the cluster, so `list` and `read` show nothing: a missing volume is noticed when it is
 * opened, and the size of an open one is stored with its domain.
 */
export type RbdDriverOptions = {
  /** Null: this host has no address in a storage network. */
  network: StorageNetwork | null;
  isInUse: IsInUse;
};

export function rbdDriver({ network, isInUse }: RbdDriverOptions): VolumeDriver {
  return {
    list: async () => [],

    async read(diskId) {
      checkDiskId(diskId);
      return null;
    },

    async create(disk, image) {
      checkVolume(disk);
      if (image) {
        const message = `disk ${disk.id} is a volume: the control plane has filled it, not the host`;
        throw new HostFailure('bad_disk', message);
      }
    },

    /** A host that resized the volume of a stopped VM could shrink what the control plane has grown. */
    async grow(disk) {
      checkVolume(disk);
      if (await isInUse(disk.id)) throw diskInUse(disk.id);
      const message = `disk ${disk.id} is a volume that no VM here has open: the control plane grows it`;
      throw new HostFailure('disk_missing', message);
    },

    async remove(diskId) {
      checkDiskId(diskId);
      if (await isInUse(diskId)) throw diskInUse(diskId);
    },

    async locate(disk): Promise<RbdSource> {
      const { monitors, pool, image, user, passphrase } = checkVolume(disk);
      if (network === null) {
        const message =
          `disk ${disk.id} is a volume of a storage cluster, and this host has no address there: ` +
          'set GANTRY_STORAGE_ADDRESS';
        throw new HostFailure('storage_misrouted', message);
      }
      await requireFenceable(network, monitors);
      await writeCephConf(network.confFile);
      const { confFile } = network;
      const secretUuid = secretUuidOf(user);
      const passphraseUuid = passphrase === '' ? null : passphraseUuidOf(user);
      const secrets = { secretUuid, passphraseUuid };
      return { type: 'rbd', monitors, pool, image, user, ...secrets, confFile };
    },

    /** QEMU itself resizes a volume that it has open. */
    async prepareGrowth(disk) {
      checkVolume(disk);
    },
  };
}

function checkVolume(disk: DiskSpec): NonNullable<DiskSpec['rbd']> {
  checkDisk(disk);
  if (disk.rbd) return disk.rbd;
  throw new HostFailure('bad_disk', `disk ${disk.id} is no volume of a storage cluster`);
}
