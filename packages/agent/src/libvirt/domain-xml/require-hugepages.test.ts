import { describe, expect, it } from 'vitest';
import { makeVm } from '../../testing/make-spec.ts';
import { requireHugepages } from './require-hugepages.ts';

const GIB_MIB = 1_024;
const require = (gib: number, hugepageKib: number | null, aboveMib: number | null) => {
  const vm = makeVm('vm-1', { memoryMib: gib * GIB_MIB });
  requireHugepages(vm, { memory: { hugepageKib, locked: false } }, aboveMib);
};

describe('a VM above the size that the operator set', () => {
  it('is refused with the reason if its memory is ordinary', () => {
    expect(() => require(65, null, 64 * GIB_MIB)).toThrow(
      expect.objectContaining({
        code: 'hugepages_missing',
        message: expect.stringContaining('VM vm-1 has 65 GiB of memory'),
      }),
    );
  });

  it('is accepted with hugepages', () => {
    require(65, GIB_MIB * GIB_MIB, 64 * GIB_MIB);
  });
});

it('a VM of that size or below, and any VM without the setting, may have ordinary memory', () => {
  require(64, null, 64 * GIB_MIB);
  require(2_048, null, null);
});
