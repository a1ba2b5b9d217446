import { describe, expect, it } from 'vitest';
import { type PlacementHost, type PlacementRequest, UNKNOWN_NODE } from './host.ts';
import { newHostIndex } from './host-index.ts';
import { placeOnHost } from './place-on-host.ts';
import { makeHost, makeRequest } from './testing/make-host.ts';

/** Two sockets of two nodes each. GPUs 0-3 are on the first node of the first socket, 4-7 on that of the second. */
function dividedHost(given: Partial<PlacementHost> = {}): PlacementHost {
  const host = makeHost();
  return {
    ...host,
    numaNodes: [0, 1, 2, 3].map((node) => ({
      ...{ node, socket: node >> 1, cores: 12, memoryMib: 122_880, networkGbps: 50 },
      distances: [0, 1, 2, 3].map((to) => (to === node ? 10 : to >> 1 === node >> 1 ? 12 : 32)),
    })),
    gpus: host.gpus.map((gpu, i) => ({ ...gpu, numaNode: i < 4 ? 0 : 2 })),
    companions: host.companions.map((drive, i) => ({ ...drive, numaNode: i < 4 ? 0 : 2 })),
    ...given,
  };
}

/** Places the requests one after the other. Returns the cores of each by node, or null if it does not fit. */
function coresOf(host: PlacementHost, requests: readonly PlacementRequest[]) {
  const index = newHostIndex();
  index.put(host);
  return requests.map((request) => {
    const placement = placeOnHost(index, host.id, request);
    if (!placement) return null;
    index.claim(placement);
    const used = placement.numaNodes.filter(({ cores }) => cores > 0);
    return Object.fromEntries(used.map(({ node, cores }) => [node, cores]));
  });
}

describe('cores and memory', () => {
  it('come from the node of the GPUs, then from another of the same socket', () => {
    const ones = Array.from({ length: 8 }, () => makeRequest(1));
    const used = coresOf(dividedHost(), ones).map((cores) => Object.keys(cores ?? {}).join());
    expect(used).toEqual(['0', '0', '1', '1', '2', '2', '3', '3']);
  });

  it('come from one node rather than from two that are equally far', () => {
    const { gpus } = dividedHost();
    const [, second] = coresOf(dividedHost({ gpus: gpus.slice(0, 4) }), [
      makeRequest(1, { cores: 8, memoryMib: 61_440 }),
      makeRequest(1, { cores: 10, memoryMib: 61_440 }),
    ]);
    expect(second).toEqual({ 1: 10 });
  });

  it('come from both nodes of the socket if one alone has too few, not from the other socket', () => {
    expect(coresOf(dividedHost(), [makeRequest(4)])).toEqual([{ 0: 12, 1: 12 }]);
  });

  it('come from the other socket if the socket of the GPUs has too few', () => {
    const numaNodes = dividedHost().numaNodes.map((node) =>
      node.socket === 0 ? { ...node, cores: 2 } : node,
    );
    expect(coresOf(dividedHost({ numaNodes }), [makeRequest(1)])).toEqual([{ 2: 6 }]);
  });

  it('come from the nearest node by distance', () => {
    const numaNodes = [0, 1, 2].map((node) => ({
      ...{ node, socket: 0, memoryMib: 122_880, networkGbps: 100, cores: node === 0 ? 0 : 12 },
      distances: [10, 20 - node, 10],
    }));
    const host = makeHost({ gpus: 2, nodes: 1 });
    const far = {
      ...host,
      numaNodes: numaNodes.map((node) => ({ ...node, distances: [10, 22, 12] })),
    };
    const near = {
      ...host,
      numaNodes: numaNodes.map((node) => ({ ...node, distances: [10, 12, 22] })),
    };
    expect(coresOf(far, [makeRequest(1)])).toEqual([{ 2: 6 }]);
    expect(coresOf(near, [makeRequest(1)])).toEqual([{ 1: 6 }]);
  });

  it('are divided in whole GiB, so that hugepages can be used', () => {
    const numaNodes = dividedHost().numaNodes.map((node) => ({ ...node, memoryMib: 100_500 }));
    const index = newHostIndex();
    index.put(dividedHost({ numaNodes }));
    const placement = placeOnHost(index, 'host', makeRequest(2));
    const memory = placement?.numaNodes.map(({ memoryMib }) => memoryMib) ?? [];
    expect(memory).toHaveLength(2);
    for (const share of memory) expect(share % 1024).toBe(0);
  });

  it('of a VM with GPUs on two sockets are on both', () => {
    expect(coresOf(dividedHost(), [makeRequest(8)])).toEqual([{ 0: 12, 1: 12, 2: 12, 3: 12 }]);
  });
});

describe('GPUs of an unknown node', () => {
  const hidden = () => {
    const host = dividedHost();
    return {
      ...host,
      gpus: host.gpus.map((gpu) => ({ ...gpu, numaNode: UNKNOWN_NODE })),
      companions: host.companions.map((drive) => ({ ...drive, numaNode: UNKNOWN_NODE })),
    };
  };

  it('can all be sold, each VM with cores of one node', () => {
    const placed = coresOf(
      hidden(),
      Array.from({ length: 8 }, () => makeRequest(1)),
    );
    expect(placed.map((cores) => Object.keys(cores ?? {}).length)).toEqual(Array(8).fill(1));
  });

  it('get the cores of one socket if a node has too few', () => {
    expect(coresOf(hidden(), [makeRequest(4), makeRequest(4)])).toEqual([
      { 0: 12, 1: 12 },
      { 2: 12, 3: 12 },
    ]);
  });
});

describe('sockets', () => {
  it('a VM gets GPUs of two nodes of one socket without maySplit, but not of two sockets', () => {
    const host = dividedHost();
    const free = (ids: number[], nodeOf: (i: number) => number) => ({
      ...host,
      gpus: host.gpus.map((gpu, i) => ({
        ...gpu,
        numaNode: nodeOf(i),
        state: ids.includes(i) ? ('free' as const) : ('claimed' as const),
      })),
    });
    const oneSocket = free([0, 1], (i) => i % 2);
    const twoSockets = free([0, 4], (i) => (i < 4 ? 0 : 2));
    expect(coresOf(oneSocket, [makeRequest(2)])).not.toEqual([null]);
    expect(coresOf(twoSockets, [makeRequest(2)])).toEqual([null]);
    expect(coresOf(twoSockets, [makeRequest(2, { maySplit: true })])).not.toEqual([null]);
  });
});

describe('drives', () => {
  it('come from another socket if the node of the GPUs has none left', () => {
    const host = dividedHost({
      companions: dividedHost().companions.map((drive) => ({ ...drive, numaNode: 3 })),
    });
    const placed = coresOf(
      host,
      Array.from({ length: 8 }, () => makeRequest(1)),
    );
    expect(placed).not.toContain(null);
  });

  it('come from the nodes of the GPUs while these have enough', () => {
    const index = newHostIndex();
    index.put(dividedHost());
    const placement = placeOnHost(index, 'host', makeRequest(8));
    expect(placement?.companionIds).toHaveLength(8);
    const four = placeOnHost(index, 'host', makeRequest(4));
    expect(four?.companionIds).toEqual(['host-d0', 'host-d1', 'host-d2', 'host-d3']);
  });
});
