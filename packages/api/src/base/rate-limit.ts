import { CloudError } from '@gantry/model/errors';

/** A token bucket for each credential. Every process has its own buckets. */
export type RateLimiter = {
  /**
   * Takes one token. Throws `too_many_requests` with the time until the next token if there is
   * none.
   */
  take(key: string): void;
};

type Bucket = { tokens: number; at: number };
const MAX_BUCKETS = 100_000;

export class TooManyRequests extends CloudError {
  readonly retryAfterS: number;
  constructor(retryAfterS: number) {
    super('too_many_requests', `too many requests: try again in ${retryAfterS} s`);
    this.retryAfterS = retryAfterS;
  }
}

type RateLimitOptions = { perSecond: number; burst: number; now?: () => number };

export function createRateLimiter({
  perSecond,
  burst,
  now = Date.now,
}: RateLimitOptions): RateLimiter {
  const buckets = new Map<string, Bucket>();
  return {
    take(key) {
      const at = now();
      let bucket = buckets.get(key);
      if (!bucket) {
        if (buckets.size >= MAX_BUCKETS) dropFull(buckets, { perSecond, burst, at });
        bucket = { tokens: burst, at };
        buckets.set(key, bucket);
      }
      bucket.tokens = refilled(bucket, { perSecond, burst, at });
      bucket.at = at;
      if (bucket.tokens < 1) throw new TooManyRequests(Math.ceil((1 - bucket.tokens) / perSecond));
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
