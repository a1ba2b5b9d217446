import { expect, it } from 'vitest';
import { remembered } from './remembered.ts';

let nowMs = 0;
const terms = { forMs: 1_000, limitMs: 20, nowMs: () => nowMs };

it('an answer is good for its time and asked for again after it, for each key alone', async () => {
  const asked: string[] = [];
  const ask = remembered(terms, async (key) => asked.push(key));
  expect([await ask('a'), await ask('b'), await ask('a')]).toEqual([1, 2, 1]);
  nowMs += 999;
  expect(await ask('a')).toBe(1);
  nowMs += 1;
  expect(await ask('a')).toBe(3);
});

it('what fails is undefined for as long, and so is what takes too long', async () => {
  let times = 0;
  const failing = remembered(terms, async () => {
    times += 1;
    throw new Error('no');
  });
  expect([await failing(''), await failing('')]).toEqual([undefined, undefined]);
  expect(times).toBe(1);
});

it('what never ends is not asked again, and what ends late is', async () => {
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

it('two who ask at once get the same answer', async () => {
  let times = 0;
  const ask = remembered(terms, async () => (times += 1));
  expect(await Promise.all([ask(''), ask('')])).toEqual([1, 1]);
});
