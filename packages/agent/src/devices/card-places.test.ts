import { GIB } from '@gantry/daemon/units';
import { expect, it } from 'vitest';
import { windowMib } from './card-places.ts';

const bar = (sizeBytes: number, is_64bit = true) => ({
  ...{ index: 0, sizeBytes, is_64bit, prefetchable: true },
});

it('leaves the window to the firmware for cards that fit into it', () => {
  expect(windowMib([])).toBe(0);
  expect(windowMib([{ bars: [bar(16 * GIB)] }])).toBe(0);
});

it('chooses a window of a power of two that has room for every region at any alignment', () => {
  // One H200: 256 GiB, 32 MiB and 16 MiB.
  expect(windowMib([{ bars: [bar(256 * GIB), bar(32 * 2 ** 20), bar(16 * 2 ** 20)] }])).toBe(
    1024 * 1024,
  );
  const eight = Array.from({ length: 8 }, () => ({ bars: [bar(64 * GIB)] }));
  expect(windowMib(eight)).toBe(1024 * 1024);
});

it('does not count regions below 4 GiB', () => {
  expect(windowMib([{ bars: [bar(64 * GIB, false)] }])).toBe(0);
});
