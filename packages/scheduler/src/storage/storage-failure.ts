import { StorageError, type StorageErrorCode } from '@gantry/ceph/storage-error';

const FINAL: ReadonlySet<StorageErrorCode> = new Set(['not_found', 'exists', 'failed']);

/** Returns whether another attempt would fail for the same reason. */
export function isFinal(error: unknown): error is StorageError {
  return error instanceof StorageError && FINAL.has(error.code);
}

/** The failure of an operation that a storage cluster could not carry out. */
export function storageFailure({ message }: StorageError) {
  return { code: 'storage_failed', message };
}
