import type { ReceivedReply } from './errors.ts';
import { readRetryAfterMs } from './errors.ts';

/** How often and how patiently a request is repeated. */
export type RetryLimits = {
  /** How often a request is sent at most. */
  attempts: number;
  /** The mean wait doubles with each attempt, from `baseMs` to `maxMs`. */
  baseMs: number;
  maxMs: number;
  /** If the server asks for a longer wait than this, the error is thrown instead. */
  maxRetryAfterMs: number;
  /** How long an attempt may take. */
  attemptTimeoutMs: number;
};

/** With these a request rides out a restart of an api process: the waits add up to about 10 s. */
export const RETRY_LIMITS: RetryLimits = {
  ...{ attempts: 6, baseMs: 250, maxMs: 8_000 },
  ...{ maxRetryAfterMs: 60_000, attemptTimeoutMs: 60_000 },
};

/**
 * Full jitter: the wait is random between zero and the bound, so clients that failed together do not
 * return together.
 */
export function backoffMs(attempt: number, { baseMs, maxMs }: RetryLimits, random = Math.random) {
  return random() * Math.min(maxMs, 2 * baseMs * 2 ** (attempt - 1));
}

/**
 * 429 is refused before anything is done, so every request may be repeated. The others come from an
 * api process that lost its database, or from a proxy that lost its api: the change may have been made.
 */
const UNDONE = [429];
const PERHAPS_DONE = [502, 503, 504];

/**
 * Returns how long to wait before the request is repeated, or undefined if it must not be repeated.
 * `isRepeatable` says that a repetition cannot change anything twice. Without a reply the connection
 * failed.
 */
export function retryDelayMs(
  { attempt, reply, isRepeatable }: FailedAttempt,
  limits: RetryLimits,
  random = Math.random,
): number | undefined {
  if (attempt >= limits.attempts) return undefined;
  const status = reply?.status;
  const isUndone = status !== undefined && UNDONE.includes(status);
  const isTransient = status === undefined || PERHAPS_DONE.includes(status);
  if (!isUndone && !(isTransient && isRepeatable)) return undefined;
  const asked = readRetryAfterMs(reply?.headers.get('retry-after') ?? null) ?? 0;
  if (asked > limits.maxRetryAfterMs) return undefined;
  // The jitter comes on top, because every client that was refused was told the same time.
  return asked + backoffMs(attempt, limits, random);
}

type FailedAttempt = {
  /** Counts from 1. */
  attempt: number;
  reply: ReceivedReply | undefined;
  isRepeatable: boolean;
};

/** Waits, or throws the signal's reason as soon as it is aborted. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', abort, { once: true });
  });
}
