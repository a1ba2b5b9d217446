import { expect, it } from 'vitest';
import { isoTime } from './iso-time.ts';

it.each([
  ['2026-01-31T23:59:59.123+00:00', '2026-01-31T23:59:59.123Z'],
  ['2026-01-31T23:59:59.12+00:00', '2026-01-31T23:59:59.120Z'],
  ['2026-01-31T23:59:59.1+00:00', '2026-01-31T23:59:59.100Z'],
  ['2026-01-31T23:59:59+00:00', '2026-01-31T23:59:59.000Z'],
])('%s is %s', (text, iso) => {
  expect(isoTime(text)).toBe(iso);
  expect(new Date(iso).getTime()).toBe(new Date(text).getTime());
});
