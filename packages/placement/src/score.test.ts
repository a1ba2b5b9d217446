import { describe, expect, it } from 'vitest';
import { chooseHost } from './choose-host.ts';
import type { PlacementHost } from './host.ts';
import { newHostIndex } from './host-index.ts';
import { makeHost, makeRequest } from './testing/make-host.ts';

/** GPUs 0-3 are on node 0, 4-7 on node 1; each two neighbours share a switch. */
function hostWithFree(free: number[], given: Parameters<typeof makeHost>[0] = {}): PlacementHost {
  const host = makeHost(given);
  return {
    ...host,
    gpus: host.gpus.map((gpu, i) => ({ ...gpu, state: free.includes(i) ? 'free' : 'claimed' })),
  };
}

/** The GPUs of a VM that may be split, or null if the host has no room. */
function chosenGpus(host: PlacementHost, count: number): readonly string[] | null {
  const index = newHostIndex();
  index.put(host);
  const choice = chooseHost(index, makeRequest(count, { maySplit: true }));
  return 'reasons' in choice ? null : choice.gpuIds;
}

const cases: [what: string, free: number[], count: number, chosen: number[] | null][] = [
  ['the whole host', [0, 1, 2, 3, 4, 5, 6, 7], 8, [0, 1, 2, 3, 4, 5, 6, 7]],
  ['one node', [0, 1, 2, 3, 4, 5, 6, 7], 4, [0, 1, 2, 3]],
  ['one switch', [0, 2, 3], 2, [2, 3]],
  ['the node with the fewest free GPUs that has enough', [0, 1, 2, 6, 7], 2, [6, 7]],
  ['the single GPU and leaves the pair', [0, 1, 2], 1, [2]],
  ['one node rather than the first GPUs', [3, 4, 5, 6, 7], 4, [4, 5, 6, 7]],
  ['two nodes if no node has enough', [0, 1, 4], 3, [0, 1, 4]],
  ['all of the fuller node if it needs two', [0, 1, 2, 3, 4, 5], 5, [0, 1, 2, 3, 4]],
  ['nothing if there are too few', [0, 1, 4], 4, null],
];

describe('the choice of GPUs on a host', () => {
  it.each(cases)('takes %s', (_what, free, count, chosen) => {
    const ids = chosen?.map((i) => `host-g${i}`) ?? null;
    expect(chosenGpus(hostWithFree(free), count)).toEqual(ids);
  });

  it('takes both GPUs of an NVLink pair or none', () => {
    const host = hostWithFree([1, 2, 3], { gpusPerSwitch: 4, bridged: true });
    expect(chosenGpus(host, 2)).toEqual(['host-g2', 'host-g3']);
    expect(chosenGpus(host, 1)).toBeNull();
    expect(chosenGpus(host, 3)).toBeNull();
    expect(chosenGpus(makeHost({ bridged: true }), 6)).toHaveLength(6);
    // The other end of the bridge is missing, and has the peer that it reported last.
    const gpus = host.gpus.map((gpu, i) => (i === 1 ? { ...gpu, nvlinkPeer: null } : gpu));
    expect(chosenGpus({ ...host, gpus }, 1)).toEqual(['host-g1']);
  });

  it('takes pairs behind two switches or of two IOMMU groups whole', () => {
    const host = makeHost({ gpusPerSwitch: 1 });
    const bridge = (pairs: [number, number][], groupOf = (i: number) => i) => ({
      ...host,
      gpus: host.gpus.map((gpu, i) => {
        const pair = pairs.find((ends) => ends.includes(i));
        const peer = pair?.find((end) => end !== i);
        return {
          ...gpu,
          iommuGroup: groupOf(i),
          nvlinkPeer: peer === undefined ? null : `host-g${peer}`,
        };
      }),
    });
    const crossed = bridge([
      [0, 2],
      [1, 3],
    ]);
    expect(chosenGpus(crossed, 2)).toEqual(['host-g0', 'host-g2']);
    expect(chosenGpus(crossed, 1)).toEqual(['host-g4']);
    // Groups 0-1 and 2-3, and a bridge between 1 and 2: all four are one unit.
    const chained = bridge([[1, 2]], (i) => (i < 4 ? i >> 1 : i));
    const onNodeZero = { ...chained, gpus: chained.gpus.filter(({ numaNode }) => numaNode === 0) };
    expect(chosenGpus(onNodeZero, 2)).toBeNull();
    expect(chosenGpus(onNodeZero, 4)).toHaveLength(4);
  });

  it('takes only whole IOMMU groups', () => {
    const host = hostWithFree([0, 1, 2, 3, 5]);
    const paired = {
      ...host,
      gpus: host.gpus.map((gpu, i) => ({ ...gpu, iommuGroup: i >> 1 })),
    };
    expect(chosenGpus(paired, 1)).toBeNull();
    expect(chosenGpus(paired, 3)).toBeNull();
    expect(chosenGpus(paired, 2)).toEqual(['host-g0', 'host-g1']);
    expect(chosenGpus(paired, 4)).toHaveLength(4);
  });

  it('takes no GPU without an IOMMU group and none of another model', () => {
    const host = makeHost();
    const gpus = host.gpus.map((gpu, i) => ({
      ...gpu,
      model: i < 4 ? 'A40' : 'L40S',
      iommuGroup: i === 0 ? null : i,
    }));
    expect(chosenGpus({ ...host, gpus }, 3)).toEqual(['host-g1', 'host-g2', 'host-g3']);
    expect(chosenGpus({ ...host, gpus }, 4)).toBeNull();
  });
});
