import { canonicalEndpointCidr, parseCidr, parseIpv4 } from '../cidr.ts';
import { parsePorts } from '../ports.ts';
import type { ACTIONS, DIRECTIONS, PROTOCOLS } from '../states.ts';

export type Protocol = (typeof PROTOCOLS)[number];
export type Direction = (typeof DIRECTIONS)[number];

/** A rule as a host gets it: all endpoints are resolved to CIDRs. */
export type ResolvedRule = {
  id: string;
  networkId: string;
  direction: Direction;
  action: (typeof ACTIONS)[number];
  protocols: readonly string[];
  /** CIDRs. Empty: the rule matches nothing. */
  sources: readonly string[];
  /** As "22", "3000-8080" or "*". Empty: every port. */
  sourcePorts: readonly string[];
  destinations: readonly string[];
  destinationPorts: readonly string[];
};

/** The ports are ignored if the protocol is icmp. */
export type Ports = { sourcePort: number; destinationPort: number };
/** The first packet of a connection as a rule sees it, after or before address translation. */
export type Packet = Ports & { protocol: Protocol; source: string; destination: string };

export function matchesRule(rule: ResolvedRule, packet: Packet): boolean {
  return (
    rule.protocols.includes(packet.protocol) &&
    hasAddress(rule.sources, packet.source) &&
    hasAddress(rule.destinations, packet.destination) &&
    // ICMP has no ports, so the ports of a rule do not apply.
    (packet.protocol === 'icmp' ||
      (hasPort(rule.sourcePorts, packet.sourcePort) &&
        hasPort(rule.destinationPorts, packet.destinationPort)))
  );
}

function hasAddress(blocks: readonly string[], address: string): boolean {
  const number = parseIpv4(address);
  if (number === undefined) throw new Error(`BUG: "${address}" is not an IPv4 address`);
  return blocks.some((text) => {
    const block = parseCidr(canonicalEndpointCidr(text) ?? '');
    return block !== undefined && block.first <= number && number <= block.last;
  });
}

function hasPort(ranges: readonly string[], port: number): boolean {
  if (ranges.length === 0) return true;
  return ranges.some((text) => {
    const range = parsePorts(text);
    return range !== undefined && range.first <= port && port <= range.last;
  });
}
