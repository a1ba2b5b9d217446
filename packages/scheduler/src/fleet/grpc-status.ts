import type { Log } from '@gantry/daemon/log';
import { CloudError, type ErrorKind } from '@gantry/model/errors';
import { status } from '@grpc/grpc-js';

export type CallStatus = { code: status; details: string };

/** The only mapping from error kinds to gRPC codes. */
const CODES: Partial<Record<ErrorKind, status>> = {
  invalid: status.INVALID_ARGUMENT,
  unauthenticated: status.UNAUTHENTICATED,
  forbidden: status.PERMISSION_DENIED,
  not_found: status.NOT_FOUND,
  conflict: status.ABORTED,
  unavailable: status.UNAVAILABLE,
};

/** An unexpected error is logged, and reported as UNAVAILABLE so that the caller retries. */
export function statusOf(error: unknown, log: Log): CallStatus {
  if (error instanceof CloudError) {
    const code = CODES[error.kind];
    if (code !== undefined) return { code, details: error.message };
  }
  log.error({ error }, 'gRPC call failed');
  return { code: status.UNAVAILABLE, details: 'this scheduler cannot process the call now' };
}
