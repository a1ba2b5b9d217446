import { expect, it } from 'vitest';
import { readDifference } from './drift.ts';

it.each([
  ['kernel: 6.1 → 6.8', { what: 'kernel', before: '6.1', now: '6.8' }],
  [
    '0000:01:00.0: serial number: A: 1 → B',
    { what: '0000:01:00.0: serial number: A', before: '1', now: 'B' },
  ],
  ['0000:01:00.0: gone', { what: 'device', before: '0000:01:00.0', now: '' }],
  ['0000:01:00.0: new, 10de:2230', { what: 'device', before: '', now: '0000:01:00.0 (10de:2230)' }],
  ['something new', { what: '', before: '', now: 'something new' }],
])('the sentence %j is read as a difference', (sentence, difference) => {
  expect(readDifference(sentence)).toEqual(difference);
});
