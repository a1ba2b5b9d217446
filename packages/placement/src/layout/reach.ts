import type { PlacementHost } from '../host.ts';

/**
 * Which NUMA nodes serve the GPUs of a node, from the best locality to the worst. Nodes are indexes into the
 * layout's list.
 */
export type Reach = {
  /** Equal for nodes of one socket. */
  socketOf: readonly number[];
  /** By node: this node, then all others from the nearest to the farthest. */
  nearest: readonly (readonly number[])[];
  /**
   * By node: the sets of nodes that may provide the cores and memory of a VM whose GPUs are all on this node, best
   * set first: one node of the socket, the whole socket, one other node, another whole socket, all nodes. A guest on
   * one node has one NUMA node itself, so one node is better than several that are equally far.
   */
  choices: readonly (readonly (readonly number[])[])[];
};

type Nodes = Pick<PlacementHost, 'numaNodes'>['numaNodes'];

/** `numbers` are the numbers of the layout's nodes. */
export function reachOf(numbers: readonly number[], nodes: Nodes): Reach {
  const found = numbers.map((number) => nodes.find(({ node }) => node === number));
  // A node whose socket is not known counts as a socket of its own.
  const sockets = found.map((node, i) => (node?.socket === undefined ? `n${i}` : node.socket));
  const socketOf = sockets.map((socket) => sockets.indexOf(socket));
  const known = nodes.map(({ node }) => node).sort((a, b) => a - b);
  const distance = (from: number, to: number) =>
    found[from]?.distances?.[known.indexOf(numbers[to] ?? 0)] ?? 0;
  const nearest = numbers.map((_, from) => {
    const others = numbers.flatMap((_, to) => (to === from ? [] : to));
    const isOtherSocket = (to: number) => Number(socketOf[to] !== socketOf[from]);
    return [
      from,
      ...others.sort(
        (a, b) =>
          isOtherSocket(a) - isOtherSocket(b) || distance(from, a) - distance(from, b) || a - b,
      ),
    ];
  });
  return { socketOf, nearest, choices: nearest.map((order) => choicesOf(order, socketOf)) };
}

function choicesOf(nearest: readonly number[], socketOf: readonly number[]): number[][] {
  const [home = 0] = nearest;
  const ofSocket = (socket: number | undefined) =>
    nearest.filter((node) => socketOf[node] === socket);
  const same = ofSocket(socketOf[home]);
  const others = nearest.filter((node) => !same.includes(node));
  const otherSockets = [...new Set(others.map((node) => socketOf[node]))];
  const sets = [same, ...otherSockets.map(ofSocket), [...nearest]];
  const [ownSocket, ...rest] = sets.map((set) => (set.length > 1 ? [set] : []));
  return [
    ...same.map((node) => [node]),
    ...(ownSocket ?? []),
    ...others.map((node) => [node]),
    ...rest.flat(),
  ];
}
