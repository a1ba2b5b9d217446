import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { StorageError } from '@gantry/ceph/storage-error';
import { replaceFile, syncDirectory, unlessMissing } from '@gantry/daemon/durable-file';
import { type BackupFiles, type BackupKey, renderManifest } from './backup-files.ts';
import { withDirectory } from './with-directory.ts';

/**
 * Backups in a directory that all schedulers reach:
 *
 *   <disk id>/<backup id>.diff            the file
 *   <disk id>/<backup id>.json            its manifest
 *   <disk id>/<backup id>.<random>.new    a file that is being written, or that an interrupted attempt has left
 *
 * A file gets its name last, and a removed name cannot be renamed, so no attempt needs the lease to remove another one's.
 */
export function openDirectoryFiles(directory: string): BackupFiles {
  const folderOf = ({ disk_id }: BackupKey) => path.join(directory, disk_id);
  const pathOf = (key: BackupKey) => path.join(folderOf(key), `${key.id}.diff`);
  const manifestOf = (key: BackupKey) => path.join(folderOf(key), `${key.id}.json`);
  const besides = (file: string) => `${file}.json`;
  /** Removes the files of a backup, or only those that were not published. */
  const clear = async (key: BackupKey, isKept: (file: string) => boolean) => {
    const names = (await unlessMissing(readdir(folderOf(key)))) ?? [];
    for (const name of names.filter((each) => each.startsWith(`${key.id}.`))) {
      const file = path.join(folderOf(key), name);
      if (!isKept(file)) await rm(file, { force: true });
    }
  };
  return {
    prepare: (key) =>
      withDirectory(directory, async () => {
        // The directory itself must exist: if its file system is not mounted, nothing may be written below it.
        await syncDirectory(directory);
        await mkdir(folderOf(key), { recursive: true, mode: 0o700 });
        await syncDirectory(directory);
        await clear(key, (file) => file === pathOf(key) || file === manifestOf(key));
        return path.join(folderOf(key), `${key.id}.${randomBytes(6).toString('hex')}.new`);
      }),
    verify: (file, manifest) =>
      withDirectory(directory, async () => {
        await requireChecksum(file, manifest.sha256);
        await replaceFile(besides(file), renderManifest(manifest), 0o600);
      }),
    publish: (key, file) =>
      withDirectory(directory, async () => {
        await rename(file, pathOf(key));
        await rename(besides(file), manifestOf(key));
        await syncDirectory(folderOf(key));
      }),
    discard: (file) =>
      withDirectory(directory, async () => {
        await rm(file, { force: true });
        await rm(besides(file), { force: true });
      }),
    remove: (key) =>
      withDirectory(directory, async () => {
        await syncDirectory(directory);
        await rm(manifestOf(key), { force: true });
        await clear(key, () => false);
      }),
    // The cluster compares the checksums while it reads the files.
    withFiles: (backups, use) => use(backups.map(pathOf)),
  };
}

/** Reads the file again, so that what the file system did not store is noticed now and not at the restore. */
async function requireChecksum(file: string, expected: string): Promise<void> {
  const hash = createHash('sha256');
  const isRead = await unlessMissing(pipeline(createReadStream(file), hash).then(() => true));
  if (!isRead) throw new StorageError('busy', 'another scheduler has removed the backup file');
  const found = hash.digest('hex');
  if (found !== expected)
    throw new StorageError(
      'failed',
      `the backup file ${file} has the SHA-256 ${found}, not ${expected}`,
    );
}
