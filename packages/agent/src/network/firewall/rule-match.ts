import { EVERY_ADDRESS, EVERY_PORT, type Protocol, type Rule } from './parse-rule.ts';
import type { Range } from './ranges.ts';

/** The fields in which rules distinguish packets, besides the protocol. */
export const DIMENSIONS = ['destinationPort', 'destination', 'source', 'sourcePort'] as const;
export type Dimension = (typeof DIMENSIONS)[number];

/** What a rule matches: a packet that is in one of the ranges of every dimension it names. */
export type RuleMatch = {
  protocols: readonly Protocol[];
  /** A dimension that is missing here matches every value. */
  ranges: ReadonlyMap<Dimension, readonly Range[]>;
};

/** Returns no match for a rule that matches nothing, and two for a rule with ports and icmp. */
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
  // ICMP has no ports, so a rule's ports do not apply to it.
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
