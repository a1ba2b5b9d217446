import { expect, it } from 'vitest';
import { overTime, type Reading } from './over-time.ts';

const HOUR = 3600;
const NOW = 1_000_000;
const reading = (hoursAgo: number, values: Partial<Reading>): Reading => ({
  at: new Date((NOW - hoursAgo * HOUR) * 1000).toISOString(),
  ...{ link_speed_gts: -1, link_width: -1, media_errors: -1, wear_percent: -1, spare_percent: -1 },
  ...{ correctable_errors: -1, nonfatal_errors: -1, fatal_errors: -1 },
  ...{ corrected_memory_errors: -1, uncorrected_memory_errors: -1 },
  ...values,
});

it('a value is valid until the next reading', () => {
  const readings = [reading(4, { link_width: 16 }), reading(1, { link_width: 8 })];
  const { at, valuesOf } = overTime({ readings, hours: 24, now: NOW });
  const values = valuesOf('link_width') ?? [];
  expect([at[0], at.at(-1)]).toEqual([NOW - 4 * HOUR, NOW]);
  expect(values.lastIndexOf(16)).toBe(at.findLastIndex((each) => each < NOW - HOUR));
  expect([values[0], values.at(-1)]).toEqual([16, 8]);
});

it('the line begins with the time that is shown, with the value that was valid then', () => {
  const readings = [reading(100, { wear_percent: 3 })];
  const { at, valuesOf } = overTime({ readings, hours: 24, now: NOW });
  expect(at[0]).toBe(NOW - 24 * HOUR);
  expect(new Set(valuesOf('wear_percent'))).toEqual(new Set([3]));
});

it('a value that the device does not have is no line', () => {
  const readings = [reading(2, { link_width: 16 })];
  expect(overTime({ readings, hours: 24, now: NOW }).valuesOf('wear_percent')).toBeUndefined();
  expect(overTime({ readings: [], hours: 24, now: NOW })).toMatchObject({ at: [] });
});
