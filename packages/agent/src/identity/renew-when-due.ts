import { backoffMs } from '@gantry/daemon/backoff';
import type { Log } from '@gantry/daemon/log';
import { CLOCK_SKEW_MS } from '@gantry/pki/certificate-authority';
import { type Identity, validityOf } from './identity.ts';
import { requestRenewal } from './request-certificate.ts';
import { saveIdentity } from './state-files.ts';

/**
 * Keeps a host's certificate from expiring: at two thirds of its life it is renewed, and tried again
 * until it is. The new one is on disk before anybody hears of it. A certificate that has expired
 * renews nothing; the host must be enrolled again.
 */
type Options = {
  identity: Identity;
  /** Asked before each attempt: host:port of a scheduler. */
  address: () => string;
  stateDirectory: string;
  /** False keeps the key. */
  newKey?: boolean;
  log: Log;
  /** For tests: what the host's clock says. */
  nowMs?: () => number;
  /** The link reconnects with it: a stream ends with the certificate it was opened with. */
  onRenewed: (identity: Identity) => void;
};

export type Renewal = { stop(): Promise<void> };

const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 5 * 60_000;
/** The longest a timer can be set for is 24.8 days. */
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
      log.error({ error, failures }, 'the certificate was not renewed; it is tried again');
    }
  };
  const turn = () => {
    attempt = (isDue(identity, nowMs()) ? renew() : Promise.resolve()).then(schedule);
  };
  const schedule = () => {
    if (stopped) return;
    const delay = failures > 0 ? retryDelayMs(failures) : untilDueMs(identity, nowMs());
    // Never at once: a clock far ahead of the schedulers' makes every certificate due.
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

/** Zero once two thirds of the certificate's life are over, counted from when it was issued. */
export function untilDueMs(identity: Identity, nowMs: number): number {
  const { notBeforeMs, notAfterMs } = validityOf(identity);
  const issuedMs = notBeforeMs + CLOCK_SKEW_MS;
  return Math.max(0, issuedMs + ((notAfterMs - issuedMs) * 2) / 3 - nowMs);
}

const isDue = (identity: Identity, nowMs: number) => untilDueMs(identity, nowMs) === 0;

/** `failures` is 1 after the first. Jitter keeps ten thousand hosts from retrying at once. */
export function retryDelayMs(failures: number, chance: number = Math.random()): number {
  const limits = { minMs: FIRST_RETRY_MS, maxMs: LAST_RETRY_MS, jitter: 0.5 };
  return backoffMs(failures - 1, { ...limits, random: () => chance });
}
