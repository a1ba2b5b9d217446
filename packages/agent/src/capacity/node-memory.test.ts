import { GIB } from '@gantry/daemon/units';
import { CATALOGUE } from '@gantry/model/vm-types';
import { describe, expect, it } from 'vitest';
import { DEFAULT_CAPACITY } from './capacity-settings.ts';
import { memoryForVmsMib, pagesToReserve } from './node-memory.ts';

/** The kernel uses a 64th of the installed memory for its page descriptors. */
const installed = (gib: number) => ({ memoryBytes: gib * GIB * (1 - 1 / 64), hugepages: [] });
const reserve = (nodes: ReturnType<typeof installed>[]) => pagesToReserve(nodes, DEFAULT_CAPACITY);

const perGpu = (family: string) =>
  CATALOGUE.find(({ name }) => name === `${family}.1x`)?.memoryGb ?? 0;

describe('the pages that are reserved', () => {
  it.each([
    ['a100', 8, 2, 1_024],
    ['a100', 8, 1, 1_024],
    ['a100', 8, 8, 1_024],
    ['a40', 8, 2, 512],
    ['a40', 8, 8, 512],
    ['l40s-48gb', 8, 2, 1_280],
    ['l40s-48gb', 10, 2, 1_536],
  ])('are enough for the %s of %i GPUs on %i nodes with %i GiB', (family, gpus, nodes, gib) => {
    const pages = reserve(Array.from({ length: nodes }, () => installed(gib / nodes)));
    expect(pages).toHaveLength(nodes);
    for (const count of pages) {
      expect(count).toBeGreaterThanOrEqual((perGpu(family) * gpus) / nodes);
    }
  });

  it('leave the host its fixed amount and its share of every node', () => {
    const settings = { hostMemoryGib: 20, hostMemoryPercent: 10 };
    const node = { memoryBytes: 100 * GIB, hugepages: [] };
    expect(pagesToReserve([node, node], settings)).toEqual([80, 80]);
  });

  it('are most of the memory of a small host, and none of a node without memory', () => {
    expect(reserve([{ memoryBytes: 16 * GIB, hugepages: [] }])).toEqual([13]);
    expect(reserve([installed(0), installed(512)])).toEqual([0, 485]);
  });
});

describe('the memory for VMs', () => {
  it('is the largest pool of pages, because a VM uses pages of one size', () => {
    const hugepages = [
      { pageKib: 2_048, total: 512 },
      { pageKib: 1_048_576, total: 200 },
    ];
    expect(memoryForVmsMib([{ memoryBytes: 256 * GIB, hugepages }], DEFAULT_CAPACITY)).toEqual([
      200 * 1_024,
    ]);
  });

  it('is what the host does not keep if no pages are reserved', () => {
    const hugepages = [{ pageKib: 2_048, total: 0 }];
    const settings = { hostMemoryGib: 10, hostMemoryPercent: 10 };
    expect(memoryForVmsMib([{ memoryBytes: 100 * GIB, hugepages }], settings)).toEqual([
      80 * 1_024,
    ]);
  });
});
