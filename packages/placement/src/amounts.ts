import type { NodeShare } from './host.ts';
import type { Layout } from './layout.ts';

/**
 * What is free of cores, memory and bandwidth, by node. Hosts with the same layout and the same
 * amounts share one value, which never changes: a claim moves its host from one value to another.
 * Both ends of the move stay in the processor's cache, which ten thousand copies would not.
 */
export type Amounts = {
  layout: Layout;
  cores: readonly number[];
  memoryMib: readonly number[];
  networkGbps: readonly number[];
  /** Where a claim or a release led before. */
  taken: WeakMap<readonly NodeShare[], Amounts>;
  given: WeakMap<readonly NodeShare[], Amounts>;
};

type Plain = Pick<Amounts, 'cores' | 'memoryMib' | 'networkGbps'>;

/** Beyond this many the store starts anew; equal values are then two, which costs time only. */
const MOST_KEPT = 4096;
const stores = new WeakMap<Layout, Map<string, Amounts>>();

export function amountsOf(layout: Layout, { cores, memoryMib, networkGbps }: Plain): Amounts {
  const store = stores.get(layout) ?? new Map<string, Amounts>();
  stores.set(layout, store);
  const key = `${cores}/${memoryMib}/${networkGbps}`;
  const known = store.get(key);
  if (known) return known;
  if (store.size >= MOST_KEPT) store.clear();
  const moves = { taken: new WeakMap(), given: new WeakMap() };
  const made = { layout, cores, memoryMib, networkGbps, ...moves };
  store.set(key, made);
  return made;
}

export function takeShares(from: Amounts, shares: readonly NodeShare[]): Amounts {
  const known = from.taken.get(shares);
  if (known) return known;
  const made = move(from, shares, -1);
  from.taken.set(shares, made);
  return made;
}

export function giveShares(to: Amounts, shares: readonly NodeShare[]): Amounts {
  const known = to.given.get(shares);
  if (known) return known;
  const made = move(to, shares, 1);
  to.given.set(shares, made);
  return made;
}

function move(amounts: Amounts, shares: readonly NodeShare[], sign: 1 | -1): Amounts {
  const cores = [...amounts.cores];
  const memoryMib = [...amounts.memoryMib];
  const networkGbps = [...amounts.networkGbps];
  for (const share of shares) {
    const node = amounts.layout.nodes.indexOf(share.node);
    if (node < 0) throw new Error(`BUG: a share names NUMA node ${share.node}, which is not there`);
    cores[node] = (cores[node] ?? 0) + sign * share.cores;
    memoryMib[node] = (memoryMib[node] ?? 0) + sign * share.memoryMib;
    networkGbps[node] = (networkGbps[node] ?? 0) + sign * share.networkGbps;
  }
  return amountsOf(amounts.layout, { cores, memoryMib, networkGbps });
}
