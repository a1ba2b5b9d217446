export type SpecRuleRow = {
  id: string;
  network_id: string;
  direction: 'ingress' | 'egress';
  action: 'allow' | 'deny';
  protocols: string[];
  sources: string[];
  source_ports: string[];
  destinations: string[];
  destination_ports: string[];
};

/**
 * A network and its rules. Hosts that are read together share the objects of the row, and rules that did not
 * change are the same objects in the next read.
 */
export type SpecNetworkRow = {
  id: string;
  vni: number;
  subnets: { cidr: string; gateway: string }[];
  rules: SpecRuleRow[];
};

/** A network with the ids of its rules. */
export type ListedNetwork = Omit<SpecNetworkRow, 'rules'> & {
  rules: { id: string; generation: number }[];
  /** The rules that were read with the network. They are not kept. */
  read: SpecRuleRow[];
};

/** The driver returns 64-bit numbers as text. */
export type ReadRule = { generation: string; rule: SpecRuleRow };

type KnownNetwork = {
  rules: Map<string, KnownRule>;
  /** The rules that are read every time, as they were the last time. */
  read: Map<string, SpecRuleRow>;
  /** Both in the order of the list. */
  inOrder: SpecRuleRow[];
  /** An estimate of the memory that it takes. */
  entries: number;
};
type KnownRule = { generation: number; rule: SpecRuleRow };

/** Endpoints and ports of all known rules together; about 50 MiB. */
const MAX_ENTRIES = 500_000;
/** A network and a rule take some memory, even if they are empty. */
const EMPTY_ENTRIES = 10;

/**
 * The firewall rules that were read before. A network may have half a megabyte of rules, which every change
 * of one of its VMs would read and encode again. Generations grow within an era, so another era forgets all.
 */
export class KnownRules {
  /** The network that was used last is the last one. */
  readonly #networks = new Map<string, KnownNetwork>();
  #era = '';
  #entries = 0;

  /** Returns the ids of the rules that have to be read. */
  findMissing(era: string, networks: readonly ListedNetwork[]): string[] {
    if (era !== this.#era) {
      this.#networks.clear();
      this.#entries = 0;
    }
    this.#era = era;
    return networks.flatMap(({ id, rules, read }) => {
      const known = this.#networks.get(id)?.rules;
      const readIds = new Set(read.map((rule) => rule.id));
      const isKnown = (rule: { id: string; generation: number }) =>
        known?.get(rule.id)?.generation === rule.generation || readIds.has(rule.id);
      return rules.flatMap((rule) => (isKnown(rule) ? [] : [rule.id]));
    });
  }

  add(read: readonly ReadRule[]): void {
    for (const { generation, rule } of read) {
      const { rules } = this.#use(rule.network_id);
      rules.set(rule.id, { generation: Number(generation), rule });
    }
  }

  /** Returns the network with its rules, after those that were missing were added. */
  toNetwork({ read, rules: listed, ...network }: ListedNetwork): SpecNetworkRow {
    const known = this.#use(network.id);
    known.read = new Map(read.map((rule) => [rule.id, sameAs(known.read.get(rule.id), rule)]));
    const rules = listed.flatMap(({ id }) => known.read.get(id) ?? known.rules.get(id)?.rule ?? []);
    if (rules.length < listed.length)
      throw new Error(`BUG: rules of network ${network.id} are missing`);
    // The same array, so that what was made of it is found again.
    if (hasSame(known.inOrder, rules)) return { ...network, rules: known.inOrder };
    known.inOrder = rules;
    const kept = new Set(listed.flatMap(({ id }) => (known.read.has(id) ? [] : [id])));
    for (const id of known.rules.keys()) if (!kept.has(id)) known.rules.delete(id);
    this.#entries -= known.entries;
    known.entries = EMPTY_ENTRIES + rules.reduce((sum, rule) => sum + entriesOf(rule), 0);
    this.#entries += known.entries;
    return { ...network, rules };
  }

  /** Forgets the networks that were not used for the longest time, if there are too many rules. */
  forgetOldest(): void {
    for (const [id, { entries }] of this.#networks) {
      if (this.#entries <= MAX_ENTRIES) return;
      this.#networks.delete(id);
      this.#entries -= entries;
    }
  }

  #use(id: string): KnownNetwork {
    const network = this.#networks.get(id) ?? {
      ...{ rules: new Map(), read: new Map(), inOrder: [], entries: 0 },
    };
    this.#networks.delete(id);
    this.#networks.set(id, network);
    return network;
  }
}

function entriesOf(rule: SpecRuleRow): number {
  const { sources, destinations, source_ports, destination_ports } = rule;
  const lists = [sources, destinations, source_ports, destination_ports];
  return lists.reduce((sum, list) => sum + list.length, EMPTY_ENTRIES);
}

/** Returns the object of the last time if it equals that of this time. */
function sameAs(before: SpecRuleRow | undefined, now: SpecRuleRow): SpecRuleRow {
  return before && JSON.stringify(before) === JSON.stringify(now) ? before : now;
}

function hasSame(a: readonly SpecRuleRow[], b: readonly SpecRuleRow[]): boolean {
  return a.length === b.length && a.every((rule, i) => rule === b[i]);
}
