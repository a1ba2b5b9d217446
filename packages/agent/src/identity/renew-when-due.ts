import { backoffMs } from '@gantry/daemon/backoff';
import type { Log } from '@gantry/daemon/log';
import { CLOCK_SKEW_MS } from '@gantry/pki/certificate-authority';
import { type Identity, validityOf } from './identity.ts';
import { requestRenewal } from './request-certificate.ts';
import { saveIdentity } from './state-files.ts';

/**
 * Renews a host's certificate after two thirds of its lifetime, and retries until it succeeds. The
 * new certificate is on disk before it is used. An expired certificate cannot be renewed; the host
 * must be enrolled again.
 */
type Options = {
  identity: Identity;
  /** Returns host:port of a scheduler; called before each attempt. */
  address: () => string;
  stateDirectory: string;
  /** False keeps the key. */
  newKey?: boolean;
  log: Log;
  /** The host's clock. Tests replace it. */
  nowMs?: () => number;
  /**
   * Called with the new identity. The link must reconnect, because a stream ends with the
   * certificate it was opened with.
   */
  onRenewed: (identity: Identity) => void;
};

export type Renewal = { stop(): Promise<void> };

const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 5 * 60_000;
/** The longest timer is 24.8 days. */
const MAX_TIMER_MS = 86_400_000;

export function renewWhenDue(options: Options): Renewal {
  const { address, stateDirectory, newKey = true, log, onRenewed, nowMs = Date.now } = options;
  let { identity } = options;
  let failures = 0;
  let timer: NodeJS.Timeout | undefined;
  let attempt = Promise.resolve();
  let stopped = false;

  const renew = async () => {
    try {
      const renewed = await requestRenewal({ address: address(), identity, newKey });
      await saveIdentity(stateDirectory, renewed);
      identity = renewed;
      failures = 0;
      if (!stopped) onRenewed(renewed);
    } catch (error) {
      failures += 1;
      log.error({ error, failures }, 'certificate renewal failed; will be retried');
    }
  };
  const turn = () => {
    attempt = (isDue(identity, nowMs()) ? renew() : Promise.resolve()).then(schedule);
  };
  const schedule = () => {
    if (stopped) return;
    const delay = failures > 0 ? retryDelayMs(failures) : untilDueMs(identity, nowMs());
    // Never at once: if the host's clock is far ahead of the schedulers', every certificate looks
    // due.
    timer = setTimeout(turn, Math.max(FIRST_RETRY_MS, Math.min(delay, MAX_TIMER_MS)));
    timer.unref();
  };
  schedule();
  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await attempt;
    },
  };
}

/**
 * Returns zero once two thirds of the certificate's lifetime are over, counted from when it was
 * issued.
 */
export function untilDueMs(identity: Identity, nowMs: number): number {
  const { notBeforeMs, notAfterMs } = validityOf(identity);
  const issuedMs = notBeforeMs + CLOCK_SKEW_MS;
  return Math.max(0, issuedMs + ((notAfterMs - issuedMs) * 2) / 3 - nowMs);
}

const isDue = (identity: Identity, nowMs: number) => untilDueMs(identity, nowMs) === 0;

/**
 * `failures` is 1 after the first failure. Jitter keeps ten thousand hosts from retrying together.
 */
export function retryDelayMs(failures: number, chance: number = Math.random()): number {
  const limits = { minMs: FIRST_RETRY_MS, maxMs: LAST_RETRY_MS, jitter: 0.5 };
  return backoffMs(failures - 1, { ...limits, random: () => chance });
}
