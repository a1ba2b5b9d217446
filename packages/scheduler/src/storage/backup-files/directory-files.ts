import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { StorageError } from '@gantry/ceph/storage-error';
import { replaceFile, syncDirectory, unlessMissing } from '@gantry/daemon/durable-file';

/**
 * The files of backups, in a directory that all schedulers reach:
 *
 *   <disk id>/<backup id>.diff            the content, or the changes since the parent, in the format of `rbd export-diff`
 *   <disk id>/<backup id>.json            the manifest: what the file is, its parent and its checksum
 *   <disk id>/<backup id>.<random>.new    a file that is being written, or that an interrupted attempt has left
 *
 * Each attempt writes a file of its own, so a scheduler that lost its lease and goes on writing does not change the file
 * of its successor. The manifest gets its name last and is removed first, so a backup with a manifest is complete. The
 * database is not needed to restore one.
 */
export type BackupFiles = {
  /** Returns a new name, to which a backup is exported. Creates its directory, and removes what earlier attempts left. */
  prepare(key: BackupKey): Promise<string>;
  /** Verifies the exported file and writes its manifest beside it. */
  verify(file: string, manifest: Manifest): Promise<void>;
  /** Gives the file and its manifest their names. The caller has the lease, and the backup does not count yet. */
  publish(key: BackupKey, file: string): Promise<void>;
  /** Removes what an attempt wrote and did not publish. */
  discard(file: string): Promise<void>;
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
    pathOf,
    prepare: (key) =>
      withTarget(directory, async () => {
        // The directory itself must exist: if its file system is not mounted, nothing may be written below it.
        await syncDirectory(directory);
        await mkdir(folderOf(key), { recursive: true, mode: 0o700 });
        await syncDirectory(directory);
        await clear(key, (file) => file === pathOf(key) || file === manifestOf(key));
        return path.join(folderOf(key), `${key.id}.${randomBytes(6).toString('hex')}.new`);
      }),
    verify: (file, manifest) =>
      withTarget(directory, async () => {
        await requireChecksum(file, manifest.sha256);
        await replaceFile(besides(file), `${JSON.stringify(manifest, null, 2)}\n`, 0o600);
      }),
    publish: (key, file) =>
      withTarget(directory, async () => {
        await rename(file, pathOf(key));
        await rename(besides(file), manifestOf(key));
        await syncDirectory(folderOf(key));
      }),
    discard: (file) =>
      withTarget(directory, async () => {
        await rm(file, { force: true });
        await rm(besides(file), { force: true });
      }),
    remove: (key) =>
      withTarget(directory, async () => {
        await syncDirectory(directory);
        await rm(manifestOf(key), { force: true });
        await clear(key, () => false);
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
  verify: async () => refuse(),
  publish: async () => refuse(),
  discard: async () => refuse(),
  remove: async () => refuse(),
  pathOf: refuse,
};

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
