import { randomUUID } from 'node:crypto';
import type { Log } from '@gantry/daemon/log';
import { toErrorReply } from './http-errors.ts';
import { NOSNIFF } from './nosniff.ts';

type Refused = { log: Log; method: string; path: string; error: unknown };

/** An error reply to a request that no route serves. The body is JSON text. */
export type Refusal = { status: number; headers: Record<string, string>; body: string };

/** Logs a request that no route serves, and returns its reply: the same body as from a route. */
export function refuse({ log, method, path, error }: Refused): Refusal {
  const requestId = randomUUID();
  const { status, headers, body, fault } = toErrorReply(error, requestId);
  const line = { request_id: requestId, method, path, status };
  if (fault === undefined) log.info(line, 'request');
  else log.error({ ...line, error: fault }, 'request failed');
  return {
    status,
    headers: {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      ...NOSNIFF,
      'x-request-id': requestId,
      ...headers,
    },
    body: JSON.stringify(body),
  };
}
