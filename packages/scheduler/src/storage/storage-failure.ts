import { StorageError, type StorageErrorCode } from '@gantry/ceph/storage-error';
import { withoutPlaces } from '@gantry/model/without-places';

const FINAL: ReadonlySet<StorageErrorCode> = new Set(['not_found', 'exists', 'failed']);

/** Returns whether another attempt would fail for the same reason. */
export function isFinal(error: unknown): error is StorageError {
  return error instanceof StorageError && FINAL.has(error.code);
}

/** The failure of an operation that a storage cluster could not carry out. */
export function storageFailure(error: StorageError) {
  return { code: 'storage_failed', message: shownReason(error) };
}

/** What these messages say is about the cluster, its clients and the schedulers, and not about what the tenant did. */
const SHOWN: { [code in StorageErrorCode]?: string } = {
  unreachable: 'the storage cluster does not reply',
  denied: 'the storage cluster refused it: its operators have to look at it',
  fenced: 'the storage cluster refused it: its operators have to look at it',
  busy: 'the volume is in use',
  full: 'the storage pool is full',
};

/**
 * Returns the reason that tenants see: in operations and as `problem`.
 */
export function shownReason(error: Error): string {
  const general = error instanceof StorageError ? SHOWN[error.code] : undefined;
  if (general !== undefined) return general;
  return withoutPlaces(error.message);
}
