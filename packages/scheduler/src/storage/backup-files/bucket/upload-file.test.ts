import { GIB, MIB } from '@gantry/daemon/units';
import { expect, it } from 'vitest';
import { PART_BYTES, partBytesOf } from './upload-file.ts';

it.each([1, PART_BYTES, PART_BYTES * 10_000])('a file of %i bytes has parts of 64 MiB', (size) => {
  expect(partBytesOf(size)).toBe(64 * MIB);
});

it('a file of 16 TiB fits 10,000 parts of at most 5 GiB', () => {
  for (const size of [PART_BYTES * 10_000 + 1, 16 * 1024 * GIB, 16 * 1024 * GIB + 4_321]) {
    const bytes = partBytesOf(size);
    expect(Math.ceil(size / bytes)).toBeLessThanOrEqual(10_000);
    expect(bytes).toBeLessThanOrEqual(5 * GIB);
  }
});
