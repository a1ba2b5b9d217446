import { describe, expect, it } from 'vitest';
import type { PlacementHost } from './host.ts';
import { pickGpus } from './pick-gpus.ts';
import { makeHost } from './testing/make-host.ts';

/** GPUs 0-3 are on node 0, 4-7 on node 1; each two neighbours share a switch. */
function hostWithFree(free: number[], given: Parameters<typeof makeHost>[0] = {}): PlacementHost {
  const host = makeHost(given);
  return {
    ...host,
    gpus: host.gpus.map((gpu, i) => ({ ...gpu, state: free.includes(i) ? 'free' : 'claimed' })),
  };
}

const cases: [what: string, free: number[], count: number, picked: number[] | null][] = [
  ['the whole host', [0, 1, 2, 3, 4, 5, 6, 7], 8, [0, 1, 2, 3, 4, 5, 6, 7]],
  ['one node', [0, 1, 2, 3, 4, 5, 6, 7], 4, [0, 1, 2, 3]],
  ['one switch', [0, 2, 3], 2, [2, 3]],
  ['the tightest node', [0, 1, 2, 6, 7], 2, [6, 7]],
  ['the lone GPU, leaving the pair', [0, 1, 2], 1, [2]],
  ['one node before the first GPUs', [3, 4, 5, 6, 7], 4, [4, 5, 6, 7]],
  ['two nodes when no node has enough', [0, 1, 4], 3, [0, 1, 4]],
  ['the fuller node whole when it must be two', [0, 1, 2, 3, 4, 5], 5, [0, 1, 2, 3, 4]],
  ['nothing when there are too few', [0, 1, 4], 4, null],
];

describe('pickGpus', () => {
  it.each(cases)('takes %s', (_what, free, count, picked) => {
    const ids = picked?.map((i) => `host-g${i}`) ?? null;
    expect(pickGpus(hostWithFree(free), 'A40', count)).toEqual(ids);
  });

  it('keeps NVLink pairs together', () => {
    const given = { gpusPerSwitch: 4, bridged: true };
    expect(pickGpus(hostWithFree([1, 2, 3], given), 'A40', 2)).toEqual(['host-g2', 'host-g3']);
    expect(pickGpus(hostWithFree([1, 2, 3], given), 'A40', 1)).toEqual(['host-g1']);
  });

  it('takes whole IOMMU groups only', () => {
    const host = hostWithFree([0, 1, 2, 3, 5]);
    const paired = {
      ...host,
      gpus: host.gpus.map((gpu, i) => ({ ...gpu, iommuGroup: i >> 1 })),
    };
    expect(pickGpus(paired, 'A40', 1)).toBeNull();
    expect(pickGpus(paired, 'A40', 3)).toBeNull();
    expect(pickGpus(paired, 'A40', 2)).toEqual(['host-g0', 'host-g1']);
    expect(pickGpus(paired, 'A40', 4)).toHaveLength(4);
  });

  it('takes no GPU without a group, and none of another model', () => {
    const host = makeHost();
    const gpus = host.gpus.map((gpu, i) => ({
      ...gpu,
      model: i < 4 ? 'A40' : 'L40S',
      iommuGroup: i === 0 ? null : i,
    }));
    expect(pickGpus({ ...host, gpus }, 'A40', 3)).toEqual(['host-g1', 'host-g2', 'host-g3']);
    expect(pickGpus({ ...host, gpus }, 'A40', 4)).toBeNull();
  });
});
