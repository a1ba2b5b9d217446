import { describe, expect, it } from 'vitest';
import { KnownRules, type ListedNetwork, type SpecRuleRow } from './known-rules.ts';

const rule = (id: string, { entries = 1, networkId = 'net' } = {}): SpecRuleRow => ({
  ...{ id, network_id: networkId, direction: 'ingress', action: 'allow', protocols: ['tcp'] },
  ...{ sources: Array(entries).fill('10.0.0.0/8'), source_ports: [] },
  ...{ destinations: [], destination_ports: [] },
});
const network = (
  rules: Record<string, number>,
  { id = 'net', read = [] as SpecRuleRow[] } = {},
): ListedNetwork => ({
  ...{ id, vni: 1, subnets: [], read },
  rules: Object.entries(rules).map(([id, generation]) => ({ id, generation })),
});

describe('known rules', () => {
  it('are read once, and again with another generation or era', () => {
    const known = new KnownRules();
    expect(known.findMissing('1', [network({ a: 1, b: 1 })])).toEqual(['a', 'b']);
    known.add(['a', 'b'].map((id) => ({ generation: '1', rule: rule(id) })));
    expect(known.findMissing('1', [network({ a: 1, b: 1 })])).toEqual([]);
    expect(known.findMissing('1', [network({ a: 2, b: 1, c: 1 })])).toEqual(['a', 'c']);
    expect(known.findMissing('2', [network({ a: 1, b: 1 })])).toEqual(['a', 'b']);
  });

  it('are the same array until one of them changes', () => {
    const known = new KnownRules();
    known.add(['a', 'b'].map((id) => ({ generation: '1', rule: rule(id) })));
    const before = known.toNetwork(network({ a: 1, b: 1 }));
    expect(before.rules.map(({ id }) => id)).toEqual(['a', 'b']);
    expect(known.toNetwork(network({ a: 1, b: 1 })).rules).toBe(before.rules);
    known.add([{ generation: '2', rule: rule('b', { entries: 2 }) }]);
    const after = known.toNetwork(network({ a: 1, b: 2 }));
    expect(after.rules[0]).toBe(before.rules[0]);
    expect(after.rules[1]?.sources).toHaveLength(2);
  });

  it('do not include a rule that was read with the network, and a removed one', () => {
    const known = new KnownRules();
    known.add(['a', 'b'].map((id) => ({ generation: '1', rule: rule(id) })));
    const read = rule('a', { entries: 3 });
    const listed = network({ a: 1 }, { read: [read] });
    expect(known.findMissing('', [listed])).toEqual([]);
    const { rules } = known.toNetwork(listed);
    expect(rules).toEqual([read]);
    const again = network({ a: 1 }, { read: [rule('a', { entries: 3 })] });
    expect(known.toNetwork(again).rules).toBe(rules);
    expect(known.findMissing('', [network({ a: 1, b: 1 })])).toEqual(['a', 'b']);
  });

  it('are forgotten by network, the one that was used first before the others', () => {
    const known = new KnownRules();
    const large = (id: string) => rule(`rule of ${id}`, { entries: 200_000, networkId: id });
    const listed = ['n1', 'n2', 'n3'].map((id) => network({ [`rule of ${id}`]: 1 }, { id }));
    for (const { id } of listed) known.add([{ generation: '1', rule: large(id) }]);
    for (const one of listed.toReversed()) known.toNetwork(one);
    known.forgetOldest();
    expect(known.findMissing('', listed)).toEqual(['rule of n3']);
  });
});
