import type { NodeShare } from './host.ts';
import type { Layout } from './layout/layout.ts';

/**
 * The free cores, memory and bandwidth of each NUMA node. The value is immutable and shared by all
 * hosts with the same layout and the same free amounts: a claim moves its host from one value to
 * another. The few shared values stay in the processor's cache; ten thousand copies would not.
 */
export type Amounts = {
  layout: Layout;
  cores: readonly number[];
  memoryMib: readonly number[];
  networkGbps: readonly number[];
  /** Memoised results of earlier claims (`taken`) and releases (`given`), by their shares. */
  taken: WeakMap<readonly NodeShare[], Amounts>;
  given: WeakMap<readonly NodeShare[], Amounts>;
};

type Plain = Pick<Amounts, 'cores' | 'memoryMib' | 'networkGbps'>;

/** A store with this many values is cleared. Equal values may then exist twice, which only costs time. */
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
    if (node < 0)
      throw new Error(`BUG: a share names NUMA node ${share.node}, which the host does not have`);
    cores[node] = (cores[node] ?? 0) + sign * share.cores;
    memoryMib[node] = (memoryMib[node] ?? 0) + sign * share.memoryMib;
    networkGbps[node] = (networkGbps[node] ?? 0) + sign * share.networkGbps;
  }
  return amountsOf(amounts.layout, { cores, memoryMib, networkGbps });
}
