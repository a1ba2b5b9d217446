import { expect, it } from 'vitest';
import { Backoff } from './backoff.ts';

it('doubles up to its limit, and begins anew after a success', () => {
  const backoff = new Backoff({ minMs: 100, maxMs: 5_000, random: () => 1 });
  const pauses = Array.from({ length: 8 }, () => backoff.nextMs());
  expect(pauses).toEqual([100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
  backoff.reset();
  expect(backoff.nextMs()).toBe(100);
});

it('spreads over the whole of it, down to nothing', () => {
  const backoff = new Backoff({ minMs: 100, maxMs: 5_000, random: () => 0 });
  expect(backoff.nextMs()).toBe(0);
});
