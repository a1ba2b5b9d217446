import { groupBy } from '@gantry/model/group-by';
import { renderBlock } from '../kernel/nft-text.ts';
import type { Rule } from './parse-rule.ts';
import { type Case, kindOf, type Lookup, planLookups, rangesOf } from './plan-lookups.ts';
import { formatRange, renderKeys, renderRanges, type SetPool } from './render-elements.ts';
import { DIMENSIONS, type Dimension, matchesOf, type RuleMatch } from './rule-match.ts';

/** Which fields of a packet a rule matches: a reply has them reversed. */
const FIELDS = {
  first: {
    ...{ source: 'ip saddr', sourcePort: 'th sport' },
    ...{ destination: 'ip daddr', destinationPort: 'th dport' },
  },
  reply: {
    ...{ source: 'ip daddr', sourcePort: 'th dport' },
    ...{ destination: 'ip saddr', destinationPort: 'th sport' },
  },
} as const;

const VERDICTS = { deny: 'counter drop comment "a rule denies it"', allow: 'accept' } as const;

type Way = keyof typeof FIELDS;
type Writing = {
  name: string;
  way: Way;
  pool: SetPool;
  /** Chains by their lines, so that equal chains are rendered once. */
  chains: Map<string, string>;
};

export const replyChain = (name: string): string => `${name}_replies`;

/**
 * Renders one network's rules of one direction: the chain `name` for the first direction of a
 * connection and another chain for its replies, which share their sets. Denied packets are looked
 * up first, then allowed ones, and the rest is dropped.
 */
export function renderRules(name: string, rules: readonly Rule[]): string[] {
  const pool: SetPool = { name, sets: new Map() };
  const lookups = (['deny', 'allow'] as const).flatMap((action) => {
    const matches = rules.filter((rule) => rule.action === action).flatMap(matchesOf);
    return [...groupBy(matches, kindOf).values()].map((alike) => ({
      ...{ protocols: alike[0]?.protocols ?? [], verdict: VERDICTS[action] },
      lookups: planLookups(alike),
    }));
  });
  const chains = (['first', 'reply'] as const).flatMap((way) => {
    const writing: Writing = {
      ...{ name: way === 'first' ? name : replyChain(name), way, pool, chains: new Map() },
    };
    const lines = lookups.flatMap(({ protocols, verdict, lookups: each }) =>
      renderLookups(each, { before: [matchProtocols(protocols)], verdict, writing }),
    );
    const last = 'counter drop comment "no rule allows it"';
    const others = [...writing.chains].map(([body, chain]) =>
      renderBlock(`chain ${chain}`, [body]),
    );
    return [...others, renderBlock(`chain ${writing.name}`, [...lines, last])];
  });
  return [...pool.sets.values(), ...chains];
}

type Line = { before: readonly string[]; verdict: string; writing: Writing };

function renderLookups(lookups: readonly Lookup[], line: Line): string[] {
  return lookups.map((lookup) => renderLookup(lookup, line));
}

function renderLookup(lookup: Lookup, line: Line): string {
  const { before, verdict, writing } = line;
  const { pool } = writing;
  const field = (dimension: Dimension) => FIELDS[writing.way][dimension];
  const put = (...matches: string[]) => [...before, ...matches, verdict].join(' ');
  switch (lookup.kind) {
    case 'all':
      return put();
    case 'ranges':
      return put(field(lookup.dimension), renderRanges(lookup.dimension, lookup.ranges, pool));
    case 'keys':
      return put(renderKeys(lookup, { field, pool }));
    case 'match':
      return put(...renderMatch(lookup.match, writing));
    case 'split':
      return renderSplit(lookup, line);
  }
}

function renderSplit(split: Lookup & { kind: 'split' }, line: Line): string {
  const { before, verdict, writing } = line;
  const { dimension, cases } = split;
  const { way, pool } = writing;
  const field = FIELDS[way][dimension];
  const [only] = cases;
  if (cases.length === 1 && only?.within.length === 1 && only.within[0]) {
    const match = `${field} ${renderRanges(dimension, only.ranges, pool)}`;
    return renderLookup(only.within[0], { ...line, before: [...before, match] });
  }
  const entries = cases.flatMap(({ ranges, within }) => {
    const chain = addChain(within, { verdict, writing });
    return ranges.map((range) => `${formatRange(dimension, range)} : jump ${chain}`);
  });
  return [...before, field, `vmap { ${entries.join(', ')} }`].join(' ');
}

function addChain(within: Case['within'], { verdict, writing }: Omit<Line, 'before'>): string {
  const body = renderLookups(within, { before: [], verdict, writing }).join('\n');
  const chain = writing.chains.get(body) ?? `${writing.name}_${writing.chains.size}`;
  writing.chains.set(body, chain);
  return chain;
}

const matchProtocols = (protocols: readonly string[]) => `ip protocol { ${protocols.join(', ')} }`;

function renderMatch(match: RuleMatch, { way, pool }: Writing): string[] {
  return DIMENSIONS.filter((dimension) => match.ranges.has(dimension)).map(
    (dimension) =>
      `${FIELDS[way][dimension]} ${renderRanges(dimension, rangesOf(match, dimension), pool)}`,
  );
}
