import { HostFailure } from '../../base/failure.ts';
import type { RunProgram } from '../../base/run-program.ts';
import type { Volume } from '../../host-driver.ts';
import type { Snapshots } from '../../host-snapshots.ts';
import {
  checkDisk,
  checkDiskId,
  checkSnapshotId,
  diskMissing,
  isDiskId,
  snapshotMissing,
} from '../check-disk.ts';
import type { LogicalVolume } from '../lvm-report.ts';
import { withSparse } from './read-sparse.ts';

/**
 * Snapshots of thin logical volumes: thin volumes `gantry.snapshot-<id>` with the tag `gantry.snapshot`, which LVM makes
 * in one step, of one moment, also while a guest writes. They are active only while their content is sent for an image, so
 * that no program can open them. A disk from a snapshot is a thin volume too; it shares blocks with the snapshot and depends on it for nothing.
 *
 * A disk is set back in steps: a copy of the snapshot (`gantry.restored-<disk id>`) is made and marked as whole, the disk
 * is removed, and the copy gets its name. After a crash at any point the next call goes on.
 */
export type LvmParts = {
  volumeGroup: string;
  /** Null: plain volumes, which have no snapshots. */
  thinPool: string | null;
  run: RunProgram;
  /** The tags of disks, and of complete ones. */
  tags: { disk: string; whole: string };
  removeArgs: readonly string[];
  nameOf(diskId: string): string;
  listVolumes(): Promise<LogicalVolume[]>;
  read(diskId: string): Promise<Volume | null>;
  /** Throws if the pool must not get more data. */
  requireGoodPool(): Promise<void>;
  /** Removes what an interrupted creation left. */
  removeUnfinished(diskId: string): Promise<void>;
  removeDisk(diskId: string): Promise<void>;
};

const PREFIX = 'gantry.snapshot-';
const RESTORED = 'gantry.restored-';
const TAG = 'gantry.snapshot';

export function lvmSnapshots(parts: LvmParts): Snapshots {
  const { volumeGroup, run, tags, listVolumes, read, nameOf } = parts;
  const inGroup = (name: string) => `${volumeGroup}/${name}`;

  const requireThinPool = () => {
    if (parts.thinPool === null) throw new HostFailure('snapshots_unsupported', NO_THIN_POOL);
  };

  const findVolume = async (name: string): Promise<LogicalVolume | undefined> =>
    (await listVolumes()).find((volume) => volume.name === name);

  const find = async (snapshotId: string): Promise<LogicalVolume | undefined> => {
    checkSnapshotId(snapshotId);
    const found = await findVolume(`${PREFIX}${snapshotId}`);
    if (found && !found.tags.includes(TAG)) {
      const message = `the volume ${inGroup(found.name)} does not belong to Gantry: rename it`;
      throw new HostFailure('storage_failed', message);
    }
    return found;
  };

  /** Makes a complete disk of the snapshot, under any name. */
  const clone = async (snapshotId: string, name: string, sizeBytes: number): Promise<void> => {
    requireThinPool();
    const snapshot = await find(snapshotId);
    if (!snapshot) throw snapshotMissing(snapshotId);
    await parts.requireGoodPool();
    const how = ['--snapshot', '--setactivationskip', 'n', '--name', name, '--addtag', tags.disk];
    await run('lvcreate', ['--yes', ...how, inGroup(snapshot.name)]);
    if (snapshot.sizeBytes < sizeBytes) {
      await run('lvextend', ['--size', `${sizeBytes}b`, inGroup(name)]);
    }
    await run('lvchange', ['--activate', 'y', inGroup(name)]);
    await run('lvchange', ['--addtag', tags.whole, inGroup(name)]);
  };

  return {
    isInstant: true,

    async list() {
      const ours = (await listVolumes()).filter((each) => each.tags.includes(TAG));
      return ours
        .map(({ name }) => (name.startsWith(PREFIX) ? name.slice(PREFIX.length) : ''))
        .filter(isDiskId);
    },

    has: async (snapshotId) => (await find(snapshotId)) !== undefined,

    async make(snapshotId, diskId) {
      checkDiskId(diskId);
      requireThinPool();
      if (await find(snapshotId)) return;
      if ((await read(diskId)) === null) throw diskMissing(diskId);
      await parts.requireGoodPool();
      const how = ['--snapshot', '--name', `${PREFIX}${snapshotId}`, '--addtag', TAG];
      await run('lvcreate', ['--yes', ...how, inGroup(nameOf(diskId))]);
    },

    prepareCopy: () => Promise.reject(neverCopied()),
    readTarget: () => Promise.reject(neverCopied()),
    finishCopy: () => Promise.reject(neverCopied()),
    async discardCopy() {},

    async remove(snapshotId) {
      const snapshot = await find(snapshotId);
      if (snapshot) await run('lvremove', [...parts.removeArgs, inGroup(snapshot.name)]);
    },

    /** It is active for this time only, and opened for reading. An agent that is killed leaves it active until the next call. */
    async withContent(snapshotId, read) {
      const snapshot = await find(snapshotId);
      if (!snapshot) throw snapshotMissing(snapshotId);
      const name = inGroup(snapshot.name);
      await run('lvchange', ['--activate', 'y', '--ignoreactivationskip', name]);
      try {
        const { sizeBytes } = snapshot;
        return await withSparse({ path: `/dev/${name}`, sizeBytes }, read);
      } finally {
        await run('lvchange', ['--activate', 'n', name]);
      }
    },

    async createDisk(disk, snapshotId) {
      const sizeBytes = checkDisk(disk);
      if (await read(disk.id)) return;
      await parts.removeUnfinished(disk.id);
      await clone(snapshotId, nameOf(disk.id), sizeBytes);
    },

    async restoreDisk({ diskId, snapshotId, sizeBytes }) {
      checkDiskId(diskId);
      const name = `${RESTORED}${diskId}`;
      const copy = await findVolume(name);
      const disk = await read(diskId);
      if (disk === null && !copy) throw diskMissing(diskId);
      if (disk !== null) {
        // A whole copy is of the same order, unless its order was withdrawn: then it may be of another snapshot.
        if (copy) await run('lvremove', [...parts.removeArgs, inGroup(name)]);
        const size = Math.max(Number(sizeBytes), Number(disk.sizeBytes));
        await clone(snapshotId, name, size);
      }
      await parts.removeDisk(diskId);
      await run('lvrename', [volumeGroup, name, nameOf(diskId)]);
    },
  };
}

export const NO_THIN_POOL =
  'its host stores disks in plain logical volumes: snapshots need a thin pool (GANTRY_THIN_POOL)';

/** The agent makes every snapshot with `make`, also of an open disk. */
function neverCopied(): HostFailure {
  return new HostFailure('storage_failed', 'a logical volume is not copied by the hypervisor');
}
