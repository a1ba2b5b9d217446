import type { Amounts } from './amounts.ts';
import { type NodeShare, type PlacementRequest, UNKNOWN_NODE } from './host.ts';
import type { Layout } from './layout/layout.ts';
import { shareAt } from './spread.ts';

/** The cores and memory that a VM gets of each NUMA node, by the layout's index. */
export type Allotment = {
  cores: number[];
  memoryMib: number[];
  /** The part of them that is not on the nodes of its GPUs: 0 if all is local, 1 if nothing is. */
  onOtherNodes: number;
  /** The part that is not even on their sockets. */
  onOtherSockets: number;
};
type Lacking = { failed: 'cores' | 'memory' };

/** The largest page size. Memory is divided between nodes in whole pages, so that pages of any size can be used. */
const PAGE_MIB = 1024;

type Amount = { cores: number; memoryMib: number };
type Portion = Amount & { home: number };

/**
 * Chooses the nodes that provide the cores and memory of a VM with these GPUs. Each node with GPUs should provide the
 * part that belongs to its GPUs. If it cannot, the nearest nodes do; the result is null only if the whole host has
 * too little.
 */
export function allot(
  free: Amounts,
  gpusByNode: readonly number[],
  request: Amount,
): Allotment | Lacking {
  const { nearest, choices, socketOf } = free.layout.reach;
  const left = {
    cores: free.cores.map(notNegative),
    memoryMib: free.memoryMib.map(notNegative),
  };
  const made = {
    ...{ cores: left.cores.map(() => 0), memoryMib: left.cores.map(() => 0) },
    ...{ onOtherNodes: 0, onOtherSockets: 0 },
  };
  const portions = portionsOf(gpusByNode, request);
  const away = portions.filter((portion) => missing(left, [portion.home], portion) !== null);
  // Portions that fit their own nodes come first, so that no other portion uses up their nodes.
  for (const portion of [...portions.filter((one) => !away.includes(one)), ...away]) {
    const { home } = portion;
    const order = [...(nearest[home] ?? [])];
    const sets = portions.length === 1 ? (choices[home] ?? []) : [[home], order];
    const nodes = sets.find((set) => missing(left, set, portion) === null) ?? order;
    const lacking = missing(left, nodes, portion);
    if (lacking) return { failed: lacking };
    take(left, nodes, portion, (node, taken) => {
      made.cores[node] = (made.cores[node] ?? 0) + taken.cores;
      made.memoryMib[node] = (made.memoryMib[node] ?? 0) + taken.memoryMib;
      if (!isAway(free.layout, home, node)) return;
      const part = partOf(taken, request);
      made.onOtherNodes += part;
      if (socketOf[node] !== socketOf[home]) made.onOtherSockets += part;
    });
  }
  return made;
}

/** No node is away from devices for which the firmware names no node. */
export function isAway({ nodes }: Layout, home: number, node: number): boolean {
  return home !== node && nodes[home] !== UNKNOWN_NODE;
}

/** Lists what a VM has of each node. GPUs and drives of an unknown node are not listed. */
export function sharesFrom(
  { nodes }: Layout,
  gpusByNode: readonly number[],
  { cores, memoryMib }: Allotment,
  { networkGbps }: Pick<PlacementRequest, 'networkGbps'>,
): NodeShare[] {
  const shares = nodes.flatMap((node, i): NodeShare[] => {
    const gpus = gpusByNode[i] ?? 0;
    const isUsed = gpus > 0 || cores[i] || memoryMib[i];
    if (node === UNKNOWN_NODE || !isUsed) return [];
    const bandwidth = gpus > 0 ? shareAt(gpusByNode, i, networkGbps) : 0;
    return [
      {
        ...{ node, gpus, cores: cores[i] ?? 0 },
        ...{ memoryMib: memoryMib[i] ?? 0, networkGbps: bandwidth },
      },
    ];
  });
  const [first] = shares;
  // Bandwidth is counted for the whole host, so any node may carry that of GPUs of an unknown node.
  if (first) first.networkGbps += networkGbps - sum(shares.map((share) => share.networkGbps));
  return shares;
}

function portionsOf(gpusByNode: readonly number[], { cores, memoryMib }: Amount): Portion[] {
  return gpusByNode.flatMap((gpus, home) =>
    gpus === 0
      ? []
      : {
          home,
          cores: shareAt(gpusByNode, home, cores),
          memoryMib: shareAt(gpusByNode, home, memoryMib),
        },
  );
}

type Left = { cores: number[]; memoryMib: number[] };

/** Returns what these nodes together have too little of, or null. */
function missing(left: Left, nodes: readonly number[], portion: Portion): Lacking['failed'] | null {
  const rest = { cores: portion.cores, memoryMib: portion.memoryMib };
  for (const node of nodes) {
    const here = available(left, node, rest);
    rest.cores -= here.cores;
    rest.memoryMib -= here.memoryMib;
  }
  if (rest.cores > 0) return 'cores';
  return rest.memoryMib > 0 ? 'memory' : null;
}

function take(
  left: Left,
  nodes: readonly number[],
  portion: Portion,
  onTaken: (node: number, taken: Amount) => void,
): void {
  const rest = { cores: portion.cores, memoryMib: portion.memoryMib };
  for (const node of nodes) {
    const here = available(left, node, rest);
    rest.cores -= here.cores;
    rest.memoryMib -= here.memoryMib;
    left.cores[node] = (left.cores[node] ?? 0) - here.cores;
    left.memoryMib[node] = (left.memoryMib[node] ?? 0) - here.memoryMib;
    onTaken(node, here);
  }
}

function available(left: Left, node: number, wanted: Amount): Amount {
  const memoryMib = left.memoryMib[node] ?? 0;
  return {
    cores: Math.min(wanted.cores, left.cores[node] ?? 0),
    memoryMib:
      memoryMib >= wanted.memoryMib ? wanted.memoryMib : memoryMib - (memoryMib % PAGE_MIB),
  };
}

/** The mean of the parts of the cores and of the memory. */
function partOf(taken: Amount, all: Amount): number {
  return (taken.cores / (all.cores || 1) + taken.memoryMib / (all.memoryMib || 1)) / 2;
}

const notNegative = (amount: number) => Math.max(0, amount);
const sum = (amounts: number[]) => amounts.reduce((total, amount) => total + amount, 0);
