import { describe, expect, it } from 'vitest';
import { endLimit, startLimit } from './call-limits.ts';

const GIB_KIB = 1_024 * 1_024;
const work = (memoryGib: number, devices: number, functions = ['0']) => ({
  memoryKib: memoryGib * GIB_KIB,
  hostdevs: Array.from({ length: devices }, (_, bus) =>
    functions.map((number) => `0000:${bus.toString(16).padStart(2, '0')}:00.${number}`),
  ).flat(),
});

describe('the limit of a call', () => {
  it.each([
    { what: 'a small VM', given: work(1, 0), startS: 122, endS: 60.1 },
    { what: 'a server sold whole', given: work(960, 16), startS: 2_280, endS: 236 },
  ])('grows with the memory and the devices: $what', ({ given, startS, endS }) => {
    expect(startLimit(given)).toEqual({ timeoutMs: startS * 1_000 });
    expect(endLimit(given)).toEqual({ timeoutMs: endS * 1_000 });
  });

  it('counts a card once at the start and each of its functions at the end, as libvirt waits', () => {
    const given = work(960, 8, ['0', '1', '2', '3']);
    expect(startLimit(given)).toEqual(startLimit(work(960, 8)));
    expect(endLimit(given)).toEqual(endLimit(work(960, 32)));
  });
});
