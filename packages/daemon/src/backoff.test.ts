import { expect, it } from 'vitest';
import { Backoff } from './backoff.ts';

it('the pause doubles up to its maximum, and a success resets it', () => {
  const backoff = new Backoff({ minMs: 100, maxMs: 5_000, random: () => 1 });
  const pauses = Array.from({ length: 8 }, () => backoff.nextMs());
  expect(pauses).toEqual([100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
  backoff.reset();
  expect(backoff.nextMs()).toBe(100);
});

it('with full jitter, the default, a pause may be as short as nothing', () => {
  const backoff = new Backoff({ minMs: 100, maxMs: 5_000, random: () => 0 });
  expect(backoff.nextMs()).toBe(0);
});

it('with half jitter a pause is at least half as long', () => {
  const options = { minMs: 100, maxMs: 5_000, jitter: 0.5 };
  expect(new Backoff({ ...options, random: () => 0 }).nextMs()).toBe(50);
  expect(new Backoff({ ...options, random: () => 1 }).nextMs()).toBe(100);
});
