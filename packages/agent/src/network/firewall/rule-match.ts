import { EVERY_ADDRESS, EVERY_PORT, type Protocol, type Rule } from './parse-rule.ts';
import type { Range } from './ranges.ts';

/** In which a rule tells packets apart, apart from the protocol. */
export const DIMENSIONS = ['destinationPort', 'destination', 'source', 'sourcePort'] as const;
export type Dimension = (typeof DIMENSIONS)[number];

/** What a rule matches: a packet that is in one of the ranges of every dimension it names. */
export type RuleMatch = {
  protocols: readonly Protocol[];
  /** Those that are not here do not matter. */
  ranges: ReadonlyMap<Dimension, readonly Range[]>;
};

/** None for a rule that matches nothing, two for one that speaks of ports and of icmp. */
export function matchesOf(rule: Rule): RuleMatch[] {
  if (rule.sources.length === 0 || rule.destinations.length === 0) return [];
  const addresses = new Map<Dimension, readonly Range[]>();
  if (!isEvery(rule.sources, EVERY_ADDRESS)) addresses.set('source', rule.sources);
  if (!isEvery(rule.destinations, EVERY_ADDRESS)) addresses.set('destination', rule.destinations);
  const ports = new Map(addresses);
  if (!isEvery(rule.sourcePorts, EVERY_PORT)) ports.set('sourcePort', rule.sourcePorts);
  if (!isEvery(rule.destinationPorts, EVERY_PORT)) {
    ports.set('destinationPort', rule.destinationPorts);
  }
  if (ports.size === addresses.size) return [{ protocols: rule.protocols, ranges: addresses }];
  // It has no ports, so a rule's ports say nothing of it.
  const withPorts = rule.protocols.filter((protocol) => protocol !== 'icmp');
  return [
    ...(withPorts.length > 0 ? [{ protocols: withPorts, ranges: ports }] : []),
    ...(rule.protocols.includes('icmp')
      ? [{ protocols: ['icmp'] as const, ranges: addresses }]
      : []),
  ];
}

function isEvery(ranges: readonly Range[], every: Range): boolean {
  return ranges.some(({ first, last }) => first === every.first && last === every.last);
}
