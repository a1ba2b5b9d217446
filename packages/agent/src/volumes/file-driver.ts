import { chmod, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile, syncDirectory, syncFile, unlessMissing } from '@gantry/daemon/durable-file';
import { HostFailure } from '../base/failure.ts';
import type { RunProgram } from '../base/run-program.ts';
import type { Volume } from '../host-driver.ts';
import type { ImageCache } from '../images/image-cache.ts';
import { readImageFormat } from '../images/image-format.ts';
import type { DiskSpec, Image } from '../spec.ts';
import { readBackingName, readQcow2Header } from './backing-images.ts';
import {
  checkDisk,
  checkDiskId,
  checkGrowth,
  diskInUse,
  diskMissing,
  imageTooLarge,
  isDiskId,
} from './check-disk.ts';
import type { FileSource } from './disk-source.ts';
import { renderOverlay } from './qcow2-overlay.ts';
import { type DiskFile, isLocked, resizeFile } from './qemu-img.ts';
import { requireFreeDirectory } from './require-free-space.ts';
import { fileSnapshots } from './snapshots/file-snapshots.ts';
import type { BlockDriver, IsInUse } from './volume-driver.ts';

/**
 * Disks as files in one directory: `<id>.raw`, sparse, or `<id>.qcow2` over an image. Only the name
 * says the format, because a guest may write anything into a raw disk, also a qcow2 header that
 * names a file of the host. A file with its final name is complete. After a crash during creation
 * it is `<id>.raw.new` or `<id>.qcow2.new`, which creating or removing the disk deletes.
 */
export type FileDriverOptions = {
  directory: string;
  images: ImageCache;
  isInUse: IsInUse;
  run: RunProgram;
  /** The share of the file system that new disks leave free. Absent: none. */
  reservePercent?: number | undefined;
};

const FORMATS = ['raw', 'qcow2'] as const;

export function fileDriver(options: FileDriverOptions): BlockDriver {
  const { directory, images, isInUse, run } = options;
  const fileOf = (diskId: string, format: DiskFile['format']): DiskFile => ({
    path: join(directory, `${diskId}.${format}`),
    format,
  });

  const find = async (diskId: string): Promise<(DiskFile & { sizeBytes: number }) | null> => {
    checkDiskId(diskId);
    const raw = fileOf(diskId, 'raw');
    const stats = await unlessMissing(stat(raw.path));
    if (stats) return { ...raw, sizeBytes: stats.size };
    const qcow2 = fileOf(diskId, 'qcow2');
    const header = await unlessMissing(readQcow2Header(qcow2.path).catch(damaged(qcow2)));
    return header ? { ...qcow2, sizeBytes: header.virtualSizeBytes } : null;
  };

  const read = async (diskId: string): Promise<Volume | null> => {
    const file = await find(diskId);
    return file && { id: diskId, sizeBytes: String(file.sizeBytes) };
  };

  const requireAtRest = async (diskId: string, file: DiskFile): Promise<void> => {
    if ((await isInUse(diskId)) || (await isLocked(run, file.path))) throw diskInUse(diskId);
  };

  const make = async (disk: DiskSpec, image: Image | null): Promise<void> => {
    const sizeBytes = checkDisk(disk);
    await prepareDirectory(directory);
    await requireFreeDirectory(directory, options.reservePercent ?? 0);
    if (image === null) {
      await makeSparse(fileOf(disk.id, 'raw').path, sizeBytes);
    } else {
      await images.use(image, async (backing) => {
        if (sizeBytes < backing.virtualSizeBytes) {
          throw imageTooLarge(disk, backing.virtualSizeBytes);
        }
        const overlay = renderOverlay({ sizeBytes, backing });
        await replaceFile(fileOf(disk.id, 'qcow2').path, overlay, 0o600);
      });
    }
  };

  const clearUnfinished = async (diskId: string): Promise<void> => {
    for (const format of FORMATS) {
      await rm(`${fileOf(diskId, format).path}.new`, { force: true });
    }
  };

  const snapshots = fileSnapshots({
    ...{ directory, isInUse, run, find, reservePercent: options.reservePercent ?? 0 },
    prepare: () => prepareDirectory(directory),
  });

  return {
    snapshots,

    async list() {
      const names = (await unlessMissing(readdir(directory))) ?? [];
      return names.map((name) => /^(.+)\.(raw|qcow2)$/.exec(name)?.[1] ?? '').filter(isDiskId);
    },

    read,

    async create(disk, image) {
      checkDisk(disk);
      if (await find(disk.id)) return;
      try {
        await make(disk, image);
      } catch (error) {
        await clearUnfinished(disk.id);
        throw fullOr(error, directory);
      }
    },

    async grow(disk) {
      const file = await find(disk.id);
      const sizeBytes = checkGrowth(disk, await read(disk.id));
      if (file === null || sizeBytes === null) return;
      await requireAtRest(disk.id, file);
      await resizeFile(run, { ...file, sizeBytes });
      await syncFile(file.path);
    },

    async remove(diskId) {
      checkDiskId(diskId);
      for (const file of FORMATS.map((format) => fileOf(diskId, format))) {
        if (!(await unlessMissing(stat(file.path)))) continue;
        await requireAtRest(diskId, file);
        await rm(file.path, { force: true });
      }
      await clearUnfinished(diskId);
      await unlessMissing(syncDirectory(directory));
    },

    async locate(disk) {
      const file = await find(disk.id);
      if (file === null) throw diskMissing(disk.id);
      const { path, format } = file;
      return {
        type: 'file',
        path,
        format,
        backing: format === 'raw' ? null : await backingOf(path),
      };
    },

    /** QEMU itself grows a file that it has open. */
    async prepareGrowth(disk) {
      checkGrowth(disk, await read(disk.id));
    },
  };
}

async function backingOf(path: string): Promise<FileSource['backing']> {
  const backing = await readBackingName(path);
  if (backing === null) return null;
  const image = await unlessMissing(readImageFormat(backing));
  if (image) return { path: backing, format: image.format };
  throw new HostFailure('disk_damaged', `${path} depends on ${backing}, which does not exist`);
}

/** Keeps errors of the file system as they are; errors in the file's content mean damage. */
function damaged({ path }: DiskFile): (error: unknown) => never {
  return (cause) => {
    if (cause instanceof Error && 'code' in cause) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new HostFailure('disk_damaged', `${path} is damaged: ${reason}`, { cause });
  };
}

/** QEMU's user passes through the directory to the one file that libvirt gave it. */
async function prepareDirectory(directory: string): Promise<void> {
  const made = await mkdir(directory, { recursive: true });
  if (made !== undefined) await chmod(directory, 0o711);
}

async function makeSparse(path: string, sizeBytes: number): Promise<void> {
  const beside = `${path}.new`;
  await rm(beside, { force: true });
  const file = await open(beside, 'wx', 0o600);
  try {
    await file.truncate(sizeBytes);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(beside, path);
  await syncDirectory(join(path, '..'));
}

function fullOr(error: unknown, directory: string): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return error;
  return new HostFailure('storage_full', `no space is left in ${directory}`, { cause: error });
}
