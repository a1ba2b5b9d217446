import { constants } from 'node:os';
import { StorageError, type StorageErrorCode } from './storage-error.ts';

const { errno } = constants;
/** Linux has numbers for these, and Node has no constants. */
const [ESHUTDOWN, EDQUOT] = [108, errno.EDQUOT];

const CODES: [code: StorageErrorCode, numbers: number[]][] = [
  ['unreachable', [errno.ETIMEDOUT, errno.ECONNREFUSED, errno.EHOSTUNREACH, errno.ENOTCONN]],
  ['denied', [errno.EPERM, errno.EACCES]],
  ['not_found', [errno.ENOENT]],
  ['exists', [errno.EEXIST]],
  ['busy', [errno.EBUSY, errno.ENOTEMPTY]],
  ['full', [errno.ENOSPC, EDQUOT]],
  ['fenced', [ESHUTDOWN]],
];

/** Makes an error of the number that a library of Ceph returned. */
export function makeStorageError(number: number, message: string): StorageError {
  const found = CODES.find(([, numbers]) => numbers.includes(number));
  return new StorageError(found?.[0] ?? 'failed', message);
}
