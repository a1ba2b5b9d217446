import { expect, it } from 'vitest';
import { chooseEvictions } from './choose-evictions.ts';

const entries = [
  { sha256: 'new', sizeBytes: 10, lastUsedMs: 3 },
  { sha256: 'old', sizeBytes: 10, lastUsedMs: 1 },
  { sha256: 'middle', sizeBytes: 10, lastUsedMs: 2 },
];

it.each([
  { limitBytes: 30, kept: [], chosen: [] },
  { limitBytes: 29, kept: [], chosen: ['old'] },
  { limitBytes: 20, kept: ['old'], chosen: ['middle'] },
  { limitBytes: 0, kept: ['old'], chosen: ['middle', 'new'] },
  { limitBytes: -5, kept: ['old', 'middle', 'new'], chosen: [] },
])('within $limitBytes bytes, keeping $kept, $chosen go', ({ limitBytes, kept, chosen }) => {
  expect(chooseEvictions(entries, { limitBytes, kept: new Set(kept) })).toEqual(chosen);
});
