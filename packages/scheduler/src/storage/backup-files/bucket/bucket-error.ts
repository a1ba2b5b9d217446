import { StorageError } from '@gantry/ceph/storage-error';

/** A request to the bucket failed. The message has addresses and names: it is for the log. */
export class BucketError extends Error {
  override name = 'BucketError';
  /** Of the reply; undefined: there was none. */
  readonly status: number | undefined;
  /** The word that S3 has for the failure, or that of the system; empty if there is none. */
  readonly code: string;

  constructor(
    message: string,
    { status, code = '', ...options }: ErrorOptions & { status?: number; code?: string } = {},
  ) {
    super(message, options);
    this.status = status;
    this.code = code;
  }
}

/** The request has changed on its way, or the server asks to repeat it. Other 4xx replies repeat themselves. */
const REPEATABLE = new Set([
  ...['RequestTimeout', 'SlowDown', 'InternalError', 'ServiceUnavailable', 'OperationAborted'],
  ...['BadDigest', 'XAmzContentSHA256Mismatch', 'IncompleteBody'],
]);

/** Whether the same request may succeed a moment later. */
export function isTransient(error: unknown): error is BucketError {
  if (!(error instanceof BucketError)) return false;
  const { status, code } = error;
  return status === undefined || status >= 500 || status === 429 || REPEATABLE.has(code);
}

/** Returns the failure of a backup. Tenants see its message, and operators the cause of it in the log. */
export function bucketFailure(error: BucketError): StorageError {
  return new StorageError('failed', shownProblem(error), { cause: error });
}

function shownProblem({ status, code }: BucketError): string {
  if (code === 'NoSuchBucket') return 'the bucket of backups does not exist';
  if (status === 401 || status === 403)
    return 'the bucket of backups refused it: its operators have to look at it';
  if (status === undefined || status >= 500 || status === 429)
    return 'the bucket of backups does not reply';
  return 'the bucket of backups cannot be used: its operators have to look at it';
}
