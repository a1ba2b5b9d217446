import { expect, it } from 'vitest';
import { countsText, progressOf, waveText } from './describe-rollout.ts';

const hosts = {
  ...{ pending: 3, updating: 2, done: 10, failed: 1, skipped: 0 },
  ...{ rolling_back: 0, rolled_back: 0, roll_back_failed: 0 },
};

it('the hosts of a rollout are counted by their states', () => {
  expect(countsText({ hosts })).toBe('3 waiting, 2 updating, 10 done, 1 failed');
  expect(progressOf({ hosts })).toEqual({ ended: 11, all: 16 });
});

it('waves are counted from one, and the first has the canaries', () => {
  expect(waveText({ wave: 0, last_wave: 4 })).toBe('1 of 5 (canaries)');
  expect(waveText({ wave: 2, last_wave: 4 })).toBe('3 of 5');
});
