import { expect, it } from 'vitest';
import { allSettledOrThrow } from './all-settled-or-throw.ts';

it('returns the values in the order of the promises', async () => {
  expect(await allSettledOrThrow([Promise.resolve(1), 'two'])).toEqual([1, 'two']);
});

it('throws the first error only after the other promises have settled', async () => {
  let isDone = false;
  const slow = new Promise<void>((resolve) => {
    setImmediate(() => {
      isDone = true;
      resolve();
    });
  });
  await expect(allSettledOrThrow([Promise.reject(new Error('no')), slow])).rejects.toThrow('no');
  expect(isDone).toBe(true);
});
