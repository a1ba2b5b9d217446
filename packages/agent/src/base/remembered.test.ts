import { expect, it } from 'vitest';
import { remembered } from './remembered.ts';

let nowMs = 0;
const terms = { forMs: 1_000, limitMs: 20, nowMs: () => nowMs };

it('a result is valid for its time and read again afterwards, for each key separately', async () => {
  const asked: string[] = [];
  const ask = remembered(terms, async (key) => asked.push(key));
  expect([await ask('a'), await ask('b'), await ask('a')]).toEqual([1, 2, 1]);
  nowMs += 999;
  expect(await ask('a')).toBe(1);
  nowMs += 1;
  expect(await ask('a')).toBe(3);
});

it('a failure counts as undefined for the same time, and so does a timeout', async () => {
  let times = 0;
  const failing = remembered(terms, async () => {
    times += 1;
    throw new Error('no');
  });
  expect([await failing(''), await failing('')]).toEqual([undefined, undefined]);
  expect(times).toBe(1);
});

it('a call that never ends is not repeated, and one that ends late is', async () => {
  let times = 0;
  let end: () => void = () => undefined;
  const hanging = remembered(terms, () => {
    times += 1;
    return new Promise<string>((resolve) => {
      end = () => resolve('at last');
    });
  });
  expect(await hanging('')).toBeUndefined();
  nowMs += 5_000;
  expect(await hanging('')).toBeUndefined();
  expect(times).toBe(1);
  end();
  await expect
    .poll(() => {
      void hanging('');
      return times;
    })
    .toBe(2);
  end();
});

it('two concurrent callers get the same result', async () => {
  let times = 0;
  const ask = remembered(terms, async () => (times += 1));
  expect(await Promise.all([ask(''), ask('')])).toEqual([1, 1]);
});
