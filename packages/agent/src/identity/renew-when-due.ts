import { backoffMs } from '@gantry/daemon/backoff';
import type { Log } from '@gantry/daemon/log';
import { CLOCK_SKEW_MS } from '@gantry/pki/certificate-authority';
import { type Identity, isOfAuthorities, validityOf } from './identity.ts';
import { requestRenewal } from './request-certificate.ts';
import { saveIdentity } from './state-files.ts';

/**
 * Renews a host's certificate after two thirds of its lifetime, or soon after the fleet has changed
 * its authorities, and retries until it succeeds. The new certificate is on disk before it is used.
 * An expired certificate cannot be renewed; the host must be enrolled again.
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
  /** The hosts of a fleet renew at random times within this time when its authorities change. */
  spreadMs?: number;
  /**
   * Called with the new identity. The link must reconnect, because a stream ends with the
   * certificate it was opened with.
   */
  onRenewed: (identity: Identity) => void;
};

export type Renewal = {
  /** The authorities that the fleet trusts, by SHA-256; the first one issues certificates. */
  follow(authorities: readonly string[]): void;
  stop(): Promise<void>;
};

const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 5 * 60_000;
/** Ten thousand hosts ask for 33 certificates a second. */
const SPREAD_MS = 5 * 60_000;
/** The longest timer is 24.8 days. */
const MAX_TIMER_MS = 86_400_000;

export function renewWhenDue(options: Options): Renewal {
  const { address, stateDirectory, newKey = true, log, onRenewed, nowMs = Date.now } = options;
  const { spreadMs = SPREAD_MS } = options;
  let { identity } = options;
  let failures = 0;
  let timer: NodeJS.Timeout | undefined;
  let attempt = Promise.resolve();
  let stopped = false;
  let renewing = false;
  /** When to renew because of the authorities. Infinite if they have not changed. */
  let followAtMs = Number.POSITIVE_INFINITY;
  /** The authorities that the certificate was last found to be of: every spec names them. */
  let checked = '';

  const untilNextMs = () =>
    Math.max(0, Math.min(followAtMs - nowMs(), untilDueMs(identity, nowMs())));
  const renew = async () => {
    renewing = true;
    try {
      const renewed = await requestRenewal({ address: address(), identity, newKey });
      await saveIdentity(stateDirectory, renewed);
      identity = renewed;
      checked = '';
      failures = 0;
      followAtMs = Number.POSITIVE_INFINITY;
      if (!stopped) onRenewed(renewed);
    } catch (error) {
      failures += 1;
      log.error({ error, failures }, 'certificate renewal failed; will be retried');
    } finally {
      renewing = false;
    }
  };
  const turn = () => {
    attempt = (untilNextMs() === 0 ? renew() : Promise.resolve()).then(schedule);
  };
  const schedule = () => {
    if (stopped) return;
    clearTimeout(timer);
    const delay = failures > 0 ? retryDelayMs(failures) : untilNextMs();
    // Never at once: if the host's clock is far ahead of the schedulers', every certificate looks
    // due.
    timer = setTimeout(turn, Math.max(FIRST_RETRY_MS, Math.min(delay, MAX_TIMER_MS)));
    timer.unref();
  };
  schedule();
  return {
    follow(authorities) {
      if (followAtMs !== Number.POSITIVE_INFINITY || authorities.join() === checked) return;
      if (isOfAuthorities(identity, authorities)) {
        checked = authorities.join();
        return;
      }
      followAtMs = nowMs() + Math.random() * spreadMs;
      log.info(
        { authorities },
        "the fleet's authorities have changed; the certificate is renewed soon",
      );
      // An attempt in progress schedules the next one.
      if (!renewing && failures === 0) schedule();
    },
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

/**
 * `failures` is 1 after the first failure. Jitter keeps ten thousand hosts from retrying together.
 */
export function retryDelayMs(failures: number, chance: number = Math.random()): number {
  const limits = { minMs: FIRST_RETRY_MS, maxMs: LAST_RETRY_MS, jitter: 0.5 };
  return backoffMs(failures - 1, { ...limits, random: () => chance });
}
