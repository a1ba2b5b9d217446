import { describe, expect, it } from 'vitest';
import type { NumaNode } from './numa-nodes.ts';
import { spreadMemory } from './spread-memory.ts';

const GB = 1_000_000_000;

function spread(nodes: { gb: number; cpus?: string }[], totalGb: number) {
  const warnings: string[] = [];
  const given = nodes.map(
    ({ gb, cpus = '0-7' }, id): NumaNode => ({ id, cpus, memoryBytes: gb * GB, hugepages: [] }),
  );
  const gbs = spreadMemory(given, totalGb * GB, (message) => warnings.push(message)).map(
    ({ memoryBytes }) => Math.round(memoryBytes / GB),
  );
  return { gbs, warned: warnings.length > 0 };
}

describe('the memory of NUMA nodes', () => {
  it.each([
    ['exactly', [{ gb: 250 }, { gb: 260 }], 510],
    ['but for what the kernel keeps', [{ gb: 250 }, { gb: 260 }], 530],
  ])('is as the nodes say where they add up to the total, %s', (_, nodes, total) => {
    expect(spread(nodes, total)).toEqual({ gbs: [250, 260], warned: false });
  });

  it.each([
    ['one node that says far too little', [{ gb: 5 }], 135, [135]],
    ['nodes that say too little, in proportion', [{ gb: 1 }, { gb: 3 }], 400, [100, 300]],
    ['nodes that say too much, in proportion', [{ gb: 300 }, { gb: 300 }], 300, [150, 150]],
    ['a node without memory stays without', [{ gb: 0 }, { gb: 3 }], 400, [0, 400]],
    [
      'silent nodes, over those with CPUs',
      [{ gb: 0 }, { gb: 0 }, { gb: 0, cpus: '' }],
      400,
      [200, 200, 0],
    ],
  ])('is spread from the total, with a warning, for %s', (_, nodes, total, gbs) => {
    expect(spread(nodes, total)).toEqual({ gbs, warned: true });
  });

  it('is not assigned on a host without nodes', () => {
    expect(spread([], 100)).toEqual({ gbs: [], warned: false });
  });
});
