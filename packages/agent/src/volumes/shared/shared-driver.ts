import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile, syncDirectory, unlessMissing } from '@gantry/daemon/durable-file';
import type { Log } from '@gantry/daemon/log';
import { HostFailure } from '../../base/failure.ts';
import { createKeyedQueue } from '../../base/queue.ts';
import type { Volume } from '../../host-driver.ts';
import type { DiskSpec } from '../../spec.ts';
import {
  checkDisk,
  checkDiskId,
  checkGrowth,
  diskInUse,
  diskMissing,
  isDiskId,
} from '../check-disk.ts';
import type { IsInUse, VolumeDriver } from '../volume-driver.ts';
import { isLimited } from './limited-directory.ts';
import type { ProjectLimits } from './project-limits.ts';

const NO_LIMIT = 'size of shared volume not enforced';

/**
 * Shared volumes: guests mount `<id>/data` through virtiofs; `<id>/volume.json` beside it stores
 * the size where guests cannot reach it. A directory with its final name is complete. A volume that
 * is being created or removed has a name `.<id>.…` with a unique ending, because several hosts may
 * share the root; the next creation or removal of the volume deletes it. A host whose work was
 * deleted this way by another host fails, and finds the volume in the right state when it retries.
 *
 * The size is enforced if the file system of the root has project quotas, otherwise it is only recorded: see
 * docs/operators/images-and-disks.md. A volume is limited before it has its final name. It grows after its limit, so a
 * growth that was interrupted is repeated.
 */
export type SharedDriverOptions = {
  directory: string;
  isInUse: IsInUse;
  /** Absent: sizes are recorded, and not enforced. */
  limits?: ProjectLimits | null | undefined;
  log?: Pick<Log, 'warn'> | undefined;
};

export function sharedDriver({
  directory,
  isInUse,
  limits = null,
  log,
}: SharedDriverOptions): VolumeDriver {
  const volumeAt = (diskId: string) => join(directory, diskId);
  const sizeAt = (folder: string) => join(folder, 'volume.json');

  const read = async (diskId: string): Promise<Volume | null> => {
    checkDiskId(diskId);
    const text = await unlessMissing(readFile(sizeAt(volumeAt(diskId)), 'utf8'));
    return text === undefined ? null : { id: diskId, sizeBytes: parseSize(diskId, text) };
  };

  const writeSize = (folder: string, sizeBytes: number) =>
    replaceFile(sizeAt(folder), `${JSON.stringify({ size_bytes: String(sizeBytes) })}\n`, 0o600);

  const clearUnfinished = async (diskId: string): Promise<void> => {
    for (const name of (await unlessMissing(readdir(directory))) ?? []) {
      if (!name.startsWith(`.${diskId}.`)) continue;
      const folder = join(directory, name);
      if (await unlessMissing(stat(dataAt(folder)))) await limits?.release(dataAt(folder));
      await rm(folder, { recursive: true, force: true });
    }
  };

  // A limit that is set again must not overtake one that grows.
  const oneLimitAtATime = createKeyedQueue();

  /**
   * Sets the limit of a volume that has none: it is older than the quotas of its file system, or was changed by other
   * programs. Its VMs start also if that fails, because they have started without it before.
   */
  const keepLimited = (diskId: string): Promise<void> =>
    oneLimitAtATime(diskId, async () => {
      const volume = await read(diskId);
      if (limits === null || volume === null) return;
      const sizeBytes = Number(volume.sizeBytes);
      const path = dataAt(volumeAt(diskId));
      try {
        if (await isLimited({ path, sizeBytes })) return;
        const problem = await limits.limitExisting({ path, diskId, sizeBytes }, () =>
          isInUse(diskId),
        );
        if (problem !== null) log?.warn({ disk_id: diskId, problem }, NO_LIMIT);
      } catch (error) {
        log?.warn({ disk_id: diskId, error }, NO_LIMIT);
      }
    });

  const make = async (diskId: string, sizeBytes: number): Promise<void> => {
    // A guest can leave setuid programs here, so only root may enter.
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const beside = await mkdtemp(join(directory, `.${diskId}.`));
    await mkdir(dataAt(beside));
    // Independent of the agent's umask: the guest decides what its users may do.
    await chmod(dataAt(beside), 0o755);
    try {
      await limits?.limitNew({ path: dataAt(beside), diskId, sizeBytes });
    } catch (error) {
      await rm(beside, { recursive: true, force: true });
      throw error;
    }
    await writeSize(beside, sizeBytes);
    try {
      await rename(beside, volumeAt(diskId));
    } catch (error) {
      if ((await read(diskId)) === null) throw error;
    }
    await syncDirectory(directory);
  };

  const grow = (disk: DiskSpec): Promise<void> =>
    oneLimitAtATime(disk.id, async () => {
      const sizeBytes = checkGrowth(disk, await read(disk.id));
      if (sizeBytes === null) return;
      const { id: diskId } = disk;
      const path = dataAt(volumeAt(diskId));
      const problem = await limits?.limitExisting({ path, diskId, sizeBytes }, () =>
        isInUse(diskId),
      );
      if (problem) log?.warn({ disk_id: diskId, problem }, NO_LIMIT);
      await writeSize(volumeAt(diskId), sizeBytes);
    });

  return {
    list: async () => ((await unlessMissing(readdir(directory))) ?? []).filter(isDiskId),

    read,

    async create(disk, image) {
      const sizeBytes = checkDisk(disk);
      if (image) {
        const message = `disk ${disk.id} is a shared volume, and no VM boots from one`;
        throw new HostFailure('bad_disk', message);
      }
      if (await read(disk.id)) return await keepLimited(disk.id);
      try {
        await make(disk.id, sizeBytes);
      } finally {
        await clearUnfinished(disk.id);
      }
    },

    async grow(disk) {
      const isLarger = checkGrowth(disk, await read(disk.id)) !== null;
      if (isLarger && (await isInUse(disk.id))) throw diskInUse(disk.id);
      await grow(disk);
    },

    async remove(diskId) {
      checkDiskId(diskId);
      if (await unlessMissing(stat(volumeAt(diskId)))) {
        if (await isInUse(diskId)) throw diskInUse(diskId);
        const gone = await mkdtemp(join(directory, `.${diskId}.`));
        await rename(volumeAt(diskId), gone);
        await syncDirectory(directory);
      }
      await clearUnfinished(diskId);
    },

    async locate(disk) {
      if ((await read(disk.id)) === null) throw diskMissing(disk.id);
      await keepLimited(disk.id);
      return { type: 'directory', path: dataAt(volumeAt(disk.id)) };
    },

    prepareGrowth: grow,
  };
}

/** What guests mount, in the folder of a volume. */
export function dataAt(folder: string): string {
  return join(folder, 'data');
}

function parseSize(diskId: string, text: string): string {
  const size = /^\{"size_bytes":"([1-9][0-9]*)"\}\s*$/.exec(text)?.[1];
  if (size !== undefined) return size;
  throw new HostFailure('disk_damaged', `the volume.json of disk ${diskId} is damaged`);
}
