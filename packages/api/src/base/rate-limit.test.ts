import { expect, it } from 'vitest';
import { createRateLimiter, TooManyRequests } from './rate-limit.ts';

function limiterAt(start: number) {
  const clock = { now: start };
  return { clock, limiter: createRateLimiter({ perSecond: 50, burst: 200, now: () => clock.now }) };
}
const takeAll = (take: () => void) => {
  let taken = 0;
  try {
    for (;;) {
      take();
      taken += 1;
    }
  } catch (error) {
    expect(error).toBeInstanceOf(TooManyRequests);
    return taken;
  }
};

it('a burst passes, then the rate applies', () => {
  const { clock, limiter } = limiterAt(1_000);
  expect(takeAll(() => limiter.take('a'))).toBe(200);
  clock.now += 1_000;
  expect(takeAll(() => limiter.take('a'))).toBe(50);
});

it('idle time saves at most one burst', () => {
  const { clock, limiter } = limiterAt(1_000);
  takeAll(() => limiter.take('a'));
  clock.now += 3_600_000;
  expect(takeAll(() => limiter.take('a'))).toBe(200);
});

it('each credential has its own limit', () => {
  const { limiter } = limiterAt(1_000);
  takeAll(() => limiter.take('a'));
  expect(takeAll(() => limiter.take('b'))).toBe(200);
});

it('the error has the seconds until the next attempt', () => {
  const limiter = createRateLimiter({ perSecond: 0.25, burst: 1, now: () => 0 });
  limiter.take('a');
  expect(() => limiter.take('a')).toThrow(expect.objectContaining({ retryAfterS: 4 }));
});

it('a charge takes more than is there, and the next attempt waits for it', () => {
  const { clock, limiter } = limiterAt(1_000);
  limiter.take('a');
  limiter.charge('a', 249);
  clock.now += 1_000;
  expect(() => limiter.take('a')).toThrow(TooManyRequests);
  clock.now += 100;
  expect(takeAll(() => limiter.take('a'))).toBe(5);
});

it('a refund gives back one attempt, and never more than a burst', () => {
  const { limiter } = limiterAt(1_000);
  takeAll(() => limiter.take('a'));
  limiter.refund('a');
  expect(takeAll(() => limiter.take('a'))).toBe(1);
  limiter.take('b');
  limiter.refund('b');
  limiter.refund('b');
  expect(takeAll(() => limiter.take('b'))).toBe(200);
});

it('a client that is refused again and again is known to ignore it, until it pauses', () => {
  const { clock, limiter } = limiterAt(1_000);
  takeAll(() => limiter.take('a'));
  const isIgnored = () => {
    try {
      limiter.take('a');
    } catch (error) {
      return error instanceof TooManyRequests && error.isIgnored;
    }
    return false;
  };
  const seen = Array.from({ length: 150 }, isIgnored);
  expect(seen.indexOf(true)).toBe(99);
  clock.now += 10_000;
  takeAll(() => limiter.take('a'));
  expect(isIgnored()).toBe(false);
});
