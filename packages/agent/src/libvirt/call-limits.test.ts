import { describe, expect, it } from 'vitest';
import { endLimit, startLimit } from './call-limits.ts';

const GIB_KIB = 1_024 * 1_024;
const work = (memoryGib: number, devices: number) => ({
  memoryKib: memoryGib * GIB_KIB,
  hostdevs: Array(devices).fill('0000:01:00.0'),
});

describe('the limit of a call', () => {
  it.each([
    { what: 'a small VM', given: work(1, 0), startS: 122, endS: 60.1 },
    { what: 'a server sold whole', given: work(960, 16), startS: 2_280, endS: 236 },
  ])('grows with the memory and the devices: $what', ({ given, startS, endS }) => {
    expect(startLimit(given)).toEqual({ timeoutMs: startS * 1_000 });
    expect(endLimit(given)).toEqual({ timeoutMs: endS * 1_000 });
  });
});
