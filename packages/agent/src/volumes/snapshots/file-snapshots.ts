import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { syncDirectory, syncFile, unlessMissing } from '@gantry/daemon/durable-file';
import type { RunProgram } from '../../base/run-program.ts';
import type { CopyTarget, Snapshots } from '../../host-snapshots.ts';
import { readQcow2Header } from '../backing-images.ts';
import {
  checkDisk,
  checkSnapshotId,
  diskInUse,
  diskMissing,
  isDiskId,
  snapshotMissing,
} from '../check-disk.ts';
import {
  copyIntoFile,
  type DiskFile,
  isLocked,
  listData,
  makeQcow2,
  measureCopy,
} from '../qemu-img.ts';
import { requireFreeDirectory } from '../require-free-space.ts';
import type { IsInUse } from '../volume-driver.ts';
import { type Part, withSparse } from './read-sparse.ts';

/**
 * Snapshots of disks in files: `<id>.snapshot.raw`, a sparse copy that has no backing file, whatever the format of the
 * disk. So neither it nor a disk that is made from it depends on anything. A file with its final name is complete; until
 * then its name ends in `.new`. A hypervisor makes its copy in `<id>.snapshot.qcow2.new`. The dot within these names keeps
 * them apart from disks, because ids have none.
 */
export type DiskFiles = {
  directory: string;
  isInUse: IsInUse;
  run: RunProgram;
  reservePercent: number;
  /** Returns the file of a disk, or null. */
  find(diskId: string): Promise<(DiskFile & { sizeBytes: number }) | null>;
  /** Makes the directory of the disks. */
  prepare(): Promise<void>;
};

const NAME = /^(.+)\.snapshot\.raw$/;

export function fileSnapshots(files: DiskFiles): Snapshots {
  const { directory, isInUse, run, find } = files;
  const pathOf = (snapshotId: string) => join(directory, `${snapshotId}.snapshot.raw`);
  const diskPath = (diskId: string) => join(directory, `${diskId}.raw`);

  const sizeOf = async (snapshotId: string): Promise<number | null> => {
    checkSnapshotId(snapshotId);
    return (await unlessMissing(stat(pathOf(snapshotId))))?.size ?? null;
  };

  const requireDisk = async (diskId: string) => {
    const file = await find(diskId);
    if (file === null) throw diskMissing(diskId);
    return file;
  };

  const requireSnapshot = async (snapshotId: string) => {
    const sizeBytes = await sizeOf(snapshotId);
    if (sizeBytes === null) throw snapshotMissing(snapshotId);
    return { path: pathOf(snapshotId), format: 'raw' as const, sizeBytes };
  };

  const requireSpaceFor = async (from: DiskFile): Promise<void> => {
    await files.prepare();
    await requireFreeDirectory(directory, files.reservePercent, await measureCopy(run, from));
  };

  const makeEmpty = async (path: string, from: DiskFile, sizeBytes: number): Promise<void> => {
    await requireSpaceFor(from);
    await rm(path, { force: true });
    const file = await open(path, 'wx', 0o600);
    try {
      await file.truncate(sizeBytes);
    } finally {
      await file.close();
    }
  };

  const publish = async (beside: string, path: string): Promise<void> => {
    await syncFile(beside);
    await rename(beside, path);
    await syncDirectory(directory);
  };

  /** Leaves the file with its final name, or nothing. */
  const copy = async (
    from: DiskFile & { sizeBytes: number },
    to: { path: string; sizeBytes: number },
    signal: AbortSignal,
  ): Promise<void> => {
    const beside = `${to.path}.new`;
    try {
      await makeEmpty(beside, from, to.sizeBytes);
      await copyIntoFile(run, { from, to: beside, signal });
      signal.throwIfAborted();
      await publish(beside, to.path);
    } catch (error) {
      await rm(beside, { force: true });
      throw error;
    }
  };

  const copyTarget = (snapshotId: string): CopyTarget => {
    checkSnapshotId(snapshotId);
    return { path: join(directory, `${snapshotId}.snapshot.qcow2.new`), format: 'qcow2' };
  };

  return {
    isInstant: false,

    async list() {
      const names = (await unlessMissing(readdir(directory))) ?? [];
      return names.map((name) => NAME.exec(name)?.[1] ?? '').filter(isDiskId);
    },

    has: async (snapshotId) => (await sizeOf(snapshotId)) !== null,

    async make(snapshotId, diskId, signal) {
      if ((await sizeOf(snapshotId)) !== null) return;
      const disk = await requireDisk(diskId);
      await copy(disk, { path: pathOf(snapshotId), sizeBytes: disk.sizeBytes }, signal);
    },

    async prepareCopy(snapshotId, diskId) {
      const target = copyTarget(snapshotId);
      const disk = await requireDisk(diskId);
      await requireSpaceFor(disk);
      await makeQcow2(run, { path: target.path, sizeBytes: disk.sizeBytes });
      return target;
    },

    readTarget: async (snapshotId) => copyTarget(snapshotId),

    async finishCopy(snapshotId, signal) {
      const from = copyTarget(snapshotId);
      try {
        const { virtualSizeBytes: sizeBytes } = await readQcow2Header(from.path);
        const made = { ...from, sizeBytes };
        await copy(made, { path: pathOf(snapshotId), sizeBytes }, signal);
      } finally {
        await rm(from.path, { force: true });
      }
    },

    async discardCopy(snapshotId) {
      await rm(copyTarget(snapshotId).path, { force: true });
    },

    async remove(snapshotId) {
      checkSnapshotId(snapshotId);
      const { path: copied } = copyTarget(snapshotId);
      for (const path of [pathOf(snapshotId), `${pathOf(snapshotId)}.new`, copied]) {
        await rm(path, { force: true });
      }
      await unlessMissing(syncDirectory(directory));
    },

    async withContent(snapshotId, read) {
      const { path, sizeBytes } = await requireSnapshot(snapshotId);
      const content = {
        path,
        sizeBytes,
        listData: (part: Part) => listData(run, { path, ...part }),
      };
      return await withSparse(content, read);
    },

    async createDisk(disk, snapshotId, signal) {
      const sizeBytes = checkDisk(disk);
      if (await find(disk.id)) return;
      await copy(await requireSnapshot(snapshotId), { path: diskPath(disk.id), sizeBytes }, signal);
    },

    async restoreDisk({ diskId, snapshotId, sizeBytes }, signal) {
      const snapshot = await requireSnapshot(snapshotId);
      const disk = await requireDisk(diskId);
      if ((await isInUse(diskId)) || (await isLocked(run, disk.path))) throw diskInUse(diskId);
      const size = Math.max(Number(sizeBytes), disk.sizeBytes);
      await copy(snapshot, { path: diskPath(diskId), sizeBytes: size }, signal);
      // A disk in both formats is the raw one, so a crash before this leaves the restored disk.
      if (disk.format !== 'raw') await rm(disk.path, { force: true });
      await syncDirectory(directory);
    },
  };
}
