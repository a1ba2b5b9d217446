import { StorageError } from '@gantry/ceph/storage-error';
import type { BackupFiles } from './backup-files.ts';
import { type BucketOptions, openBucketFiles } from './bucket/bucket-files.ts';
import { openDirectoryFiles } from './directory-files.ts';

/**
 * Returns the place of backups: the bucket, with the directory as its spool, or else the directory. Without a directory this
 * scheduler has no place for backups, and every use fails.
 */
export function openBackupFiles(
  directory: string | undefined,
  bucket?: BucketOptions,
): BackupFiles {
  if (directory === undefined) return NO_FILES;
  return bucket === undefined
    ? openDirectoryFiles(directory)
    : openBucketFiles({ ...bucket, spool: directory });
}

const NO_TARGET =
  'no place for backups is configured: set GANTRY_BACKUP_DIRECTORY of the schedulers';
const refuse = async () => {
  throw new StorageError('failed', NO_TARGET);
};
const NO_FILES: BackupFiles = {
  prepare: refuse,
  verify: refuse,
  publish: refuse,
  discard: refuse,
  remove: refuse,
  withFiles: refuse,
};
