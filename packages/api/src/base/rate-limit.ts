import { CloudError } from '@gantry/model/errors';

/** A token bucket for each credential or source. Every process has its own buckets. */
export type RateLimiter = {
  /**
   * Takes one token. Throws `too_many_requests` with the time until the next token if there is
   * none.
   */
  take(key: string): void;
  /** Takes more tokens for a request that has cost more, even if there are not so many. */
  charge(key: string, tokens: number): void;
  /** Gives back the token of a request that is not to count. */
  refund(key: string): void;
};

type Bucket = { tokens: number; at: number; refusals: number };
const MAX_BUCKETS = 100_000;
/** More refusals than this, and more than this many per second, are those of a client that ignores them. */
const TOLERATED = { refusals: 100, perSecond: 20 };

/** What there is too much of and whose it is, for the message. */
type RefusedShare = { what?: string; of?: string; isIgnored?: boolean };

export class TooManyRequests extends CloudError {
  readonly retryAfterS: number;
  /** Whether the client goes on sending although it was refused many times. */
  readonly isIgnored: boolean;
  constructor(
    retryAfterS: number,
    { what = 'requests', of = '', isIgnored = false }: RefusedShare = {},
  ) {
    super('too_many_requests', `too many ${what}${of}: try again in ${retryAfterS} s`);
    this.retryAfterS = retryAfterS;
    this.isIgnored = isIgnored;
  }
}

type RateLimitOptions = {
  perSecond: number;
  burst: number;
  /** Whose requests they are, for the message: ` of the organization`. */
  of?: string;
  now?: () => number;
};

export function createRateLimiter({
  perSecond,
  burst,
  of = '',
  now = Date.now,
}: RateLimitOptions): RateLimiter {
  const buckets = new Map<string, Bucket>();
  const change = (key: string, tokens: number) => {
    const bucket = buckets.get(key);
    if (bucket) bucket.tokens = Math.min(burst, Math.max(-burst, bucket.tokens + tokens));
  };
  return {
    charge: (key, tokens) => change(key, -tokens),
    refund: (key) => change(key, 1),
    take(key) {
      const at = now();
      let bucket = buckets.get(key);
      if (!bucket) {
        if (buckets.size >= MAX_BUCKETS) dropFull(buckets, { perSecond, burst, at });
        bucket = { tokens: burst, at, refusals: 0 };
        buckets.set(key, bucket);
      }
      bucket.tokens = refilled(bucket, { perSecond, burst, at });
      const forgivenRefusals = ((at - bucket.at) / 1000) * TOLERATED.perSecond;
      bucket.refusals = Math.max(0, bucket.refusals - forgivenRefusals);
      bucket.at = at;
      if (bucket.tokens < 1) {
        bucket.refusals = Math.min(bucket.refusals + 1, 2 * TOLERATED.refusals);
        const isIgnored = bucket.refusals > TOLERATED.refusals;
        throw new TooManyRequests(Math.ceil((1 - bucket.tokens) / perSecond), { of, isIgnored });
      }
      bucket.tokens -= 1;
    },
  };
}

type Refill = { perSecond: number; burst: number; at: number };

function refilled(bucket: Bucket, { perSecond, burst, at }: Refill): number {
  return Math.min(burst, bucket.tokens + ((at - bucket.at) / 1000) * perSecond);
}

/**
 * Drops full buckets, which equal missing ones. If none is full, drops all to keep memory bounded.
 */
function dropFull(buckets: Map<string, Bucket>, refill: Refill): void {
  for (const [key, bucket] of buckets) {
    if (refilled(bucket, refill) >= refill.burst) buckets.delete(key);
  }
  if (buckets.size >= MAX_BUCKETS) buckets.clear();
}
