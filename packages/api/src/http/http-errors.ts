import { toCloudError } from '@gantry/db/errors';
import { CloudError, type ErrorKind } from '@gantry/model/errors';
import { TooManyRequests } from '../base/rate-limit.ts';

/** No other file knows the status codes of errors. */
const STATUS: Record<ErrorKind, number> = {
  invalid: 400,
  unauthenticated: 401,
  unpaid: 402,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  changed: 412,
  too_large: 413,
  unsupported: 415,
  impossible: 422,
  too_many: 429,
  internal: 500,
  unavailable: 503,
};

export const ERROR_STATUSES = [...new Set(Object.values(STATUS))].sort();

export type ErrorReply = {
  status: number;
  headers: Record<string, string>;
  body: { code: string; message: string; error_id: string; details?: unknown };
  /** The error to log; undefined if the client caused the error. */
  fault: unknown;
};

/** Turns any error into a reply. An unexpected error becomes `internal_error`, without details. */
export function toErrorReply(error: unknown, requestId: string): ErrorReply {
  const known = toCloudError(error);
  const cloudError =
    known instanceof CloudError
      ? known
      : new CloudError(
          'internal_error',
          'an internal error occurred: try again, and report the error_id if it happens again',
          {
            cause: error,
          },
        );
  const { code, message, details, kind } = cloudError;
  const isFault = kind === 'internal' || kind === 'unavailable';
  return {
    status: STATUS[kind],
    headers: errorHeaders(cloudError),
    body: { code, message, error_id: requestId, ...(details === undefined ? {} : { details }) },
    fault: isFault ? (cloudError.cause ?? cloudError) : undefined,
  };
}

function errorHeaders(error: CloudError): Record<string, string> {
  if (error instanceof TooManyRequests) return { 'retry-after': String(error.retryAfterS) };
  if (error.kind === 'unavailable') return { 'retry-after': '1' };
  if (error.kind === 'unauthenticated') return { 'www-authenticate': 'Bearer realm="gantry"' };
  return {};
}
