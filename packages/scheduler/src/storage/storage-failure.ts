import { StorageError, type StorageErrorCode } from '@gantry/ceph/storage-error';

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

const PATH = /(?<![\w.:/-])\/(?:[^\s/:'",]+\/)*([^\s/:'",]*)/g;
const ADDRESS =
  /\b\d{1,3}(?:\.\d{1,3}){3}\b(?::\d+(?:\/\d+)?)?|\[[0-9a-f:.]*:[0-9a-f:.]*\](?::\d+(?:\/\d+)?)?/gi;
const FILE = /\.\w+$/;

/**
 * Returns the reason that tenants see: in operations and as `problem`. Messages of Ceph's libraries and of the system have
 * paths of the control plane and addresses of hosts, which are for operators: they are in the log.
 */
export function shownReason(error: Error): string {
  const general = error instanceof StorageError ? SHOWN[error.code] : undefined;
  if (general !== undefined) return general;
  return error.message
    .replace(PATH, (_, last: string) => (FILE.test(last) ? last : '…'))
    .replace(ADDRESS, '…');
}
