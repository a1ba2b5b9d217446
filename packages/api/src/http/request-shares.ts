import type { FairQueueOptions } from '../auth/fair-queue.ts';

/**
 * Connections that no request of a tenant holds: for authentication, logins, the process itself, and the second read
 * of a write with If-Match, which would otherwise wait for a connection while it holds one.
 */
const RESERVED = 2;
/** More than the burst of an organization. Requests beyond it get 429. */
const MAX_WAITING_OF_ORGANIZATION = 1_000;

/**
 * How many requests may use the connection pool at a time. A request holds at most one connection most
 * of the time, so the number of requests stands for that of connections. One organization has at most
 * half of them, however many or slow its requests are; the others wait without a connection. If several
 * organizations wait, they are served round-robin.
 */
export function requestShares(connections: number): FairQueueOptions {
  const concurrency = Math.max(1, connections - RESERVED);
  return {
    concurrency,
    perSource: Math.ceil(concurrency / 2),
    maxWaiting: Number.POSITIVE_INFINITY,
    maxWaitingOfSource: MAX_WAITING_OF_ORGANIZATION,
  };
}
