import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { StorageError } from '@gantry/ceph/storage-error';
import { replaceFile, syncDirectory } from '@gantry/daemon/durable-file';

/**
 * The files of backups, in a directory that all schedulers reach:
 *
 *   <disk id>/<backup id>.diff       the content, or the changes since the parent, in the format of `rbd export-diff`
 *   <disk id>/<backup id>.json       the manifest: what the file is, its parent and its checksum
 *   <disk id>/<backup id>.diff.new   a file that is being written, or that an interrupted attempt has left
 *
 * The manifest is written last and removed first, so a backup with a manifest is complete. The database is not needed to
 * restore one.
 */
export type BackupFiles = {
  /** Returns the file to which a backup is exported. Creates its directory. */
  prepare(key: BackupKey): Promise<string>;
  /** Verifies the exported file, gives it its name and writes its manifest. To repeat it is no error. */
  complete(key: BackupKey, manifest: Manifest): Promise<void>;
  /** Removes everything of a backup. To repeat it is no error. */
  remove(key: BackupKey): Promise<void>;
  /** The path of the complete file. */
  pathOf(key: BackupKey): string;
};

type BackupKey = { id: string; disk_id: string };

type Manifest = {
  version: 1;
  backup_id: string;
  name: string;
  project_id: string;
  disk_id: string;
  disk_type: string;
  size_gib: number;
  block_size: number;
  /** The backup since which the file has the changes; null: it has the whole content. */
  parent_id: string | null;
  bytes: number;
  sha256: string;
  requested_at: string;
};

/** Undefined: this scheduler has no place for backups, and every use fails. */
export function openBackupFiles(directory: string | undefined): BackupFiles {
  if (directory === undefined) return NO_FILES;
  const folderOf = ({ disk_id }: BackupKey) => path.join(directory, disk_id);
  const pathOf = (key: BackupKey) => path.join(folderOf(key), `${key.id}.diff`);
  const manifestOf = (key: BackupKey) => path.join(folderOf(key), `${key.id}.json`);
  const unfinished = (key: BackupKey) => `${pathOf(key)}.new`;
  return {
    pathOf,
    prepare: (key) =>
      withTarget(directory, async () => {
        // The directory itself must exist: if its file system is not mounted, nothing may be written below it.
        await syncDirectory(directory);
        await mkdir(folderOf(key), { recursive: true, mode: 0o700 });
        await syncDirectory(directory);
        return unfinished(key);
      }),
    complete: (key, manifest) =>
      withTarget(directory, async () => {
        await requireChecksum(unfinished(key), manifest.sha256);
        await rename(unfinished(key), pathOf(key));
        await syncDirectory(folderOf(key));
        await replaceFile(manifestOf(key), `${JSON.stringify(manifest, null, 2)}\n`, 0o600);
      }),
    remove: (key) =>
      withTarget(directory, async () => {
        await syncDirectory(directory);
        for (const file of [
          manifestOf(key),
          `${manifestOf(key)}.new`,
          pathOf(key),
          unfinished(key),
        ])
          await rm(file, { force: true });
      }),
  };
}

const NO_TARGET =
  'no place for backups is configured: set GANTRY_BACKUP_DIRECTORY of the schedulers';
const refuse = () => {
  throw new StorageError('failed', NO_TARGET);
};
const NO_FILES: BackupFiles = {
  prepare: async () => refuse(),
  complete: async () => refuse(),
  remove: async () => refuse(),
  pathOf: refuse,
};

/** Reads the file again, so that what the file system did not store is noticed now and not at the restore. */
async function requireChecksum(file: string, expected: string): Promise<void> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  const found = hash.digest('hex');
  if (found !== expected)
    throw new StorageError(
      'failed',
      `the backup file ${file} has the SHA-256 ${found}, not ${expected}`,
    );
}

/** What fails at the target is no fault of the cluster. */
async function withTarget<T>(directory: string, use: () => Promise<T>): Promise<T> {
  try {
    return await use();
  } catch (error) {
    if (error instanceof StorageError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new StorageError(
      'failed',
      `the directory of backups ${directory} cannot be used: ${reason}`,
      {
        cause: error,
      },
    );
  }
}
