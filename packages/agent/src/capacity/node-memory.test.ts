import { GIB } from '@gantry/daemon/units';
import { CATALOGUE } from '@gantry/model/vm-types';
import { describe, expect, it } from 'vitest';
import { DEFAULT_CAPACITY } from './capacity-settings.ts';
import { memoryForVmsMib, pagesToReserve } from './node-memory.ts';

const GIB_PAGE_KIB = 1_048_576;

/** The kernel uses a 64th of the installed memory for its page descriptors. */
const installed = (gib: number) => withMemory(gib * (1 - 1 / 64));
const withMemory = (gib: number, hugepages = [{ pageKib: GIB_PAGE_KIB, total: 0 }]) => ({
  memoryBytes: gib * GIB,
  hugepages,
});
const reserve = (nodes: ReturnType<typeof withMemory>[], settings = DEFAULT_CAPACITY) =>
  pagesToReserve(nodes, settings).map(({ pages }) => pages);

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
    const settings = { ...DEFAULT_CAPACITY, hostMemoryGib: 20, hostMemoryPercent: 10 };
    expect(reserve([withMemory(100), withMemory(100)], settings)).toEqual([80, 80]);
  });

  it('are most of the memory of a small host, and none of a node without memory', () => {
    expect(reserve([withMemory(16)])).toEqual([13]);
    expect(reserve([installed(0), installed(512)])).toEqual([0, 485]);
  });

  it('are of the largest size up to 1 GiB that the kernel has, without what is in other pools', () => {
    const pools = [2_048, 524_288, 16_777_216].map((pageKib) => ({ pageKib, total: 0 }));
    const settings = { ...DEFAULT_CAPACITY, hostMemoryGib: 0, hostMemoryPercent: 0 };
    expect(pagesToReserve([withMemory(16, pools)], settings)).toEqual([
      { pageKib: 524_288, pages: 32 },
    ]);
    const used = [
      { pageKib: 2_048, total: 1_024 },
      { pageKib: GIB_PAGE_KIB, total: 3 },
    ];
    expect(reserve([withMemory(16, used)], settings)).toEqual([14]);
    expect(reserve([withMemory(16, [])], settings)).toEqual([0]);
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
