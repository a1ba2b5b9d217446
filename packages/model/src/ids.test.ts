import { expect, it } from 'vitest';
import { newId } from './ids.ts';

it('newId returns UUIDv7s in the order of their milliseconds', () => {
  const ids = [1, 2, 1_700_000_000_000, 1_700_000_000_001].map((ms) => newId(ms));
  for (const id of ids)
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(ids.toSorted()).toEqual(ids);
});

it('newId returns a different id every time', () => {
  expect(new Set(Array.from({ length: 10_000 }, () => newId(1))).size).toBe(10_000);
});
