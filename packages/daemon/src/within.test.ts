import { expect, it } from 'vitest';
import { within } from './within.ts';

it('returns what the work returns, and throws what it throws', async () => {
  expect(await within(1e6, Promise.resolve(1))).toBe(1);
  await expect(within(1e6, Promise.reject(new Error('no')))).rejects.toThrow('no');
});

it('returns undefined if the work takes longer than the limit', async () => {
  expect(await within(1, new Promise(() => {}))).toBeUndefined();
});
