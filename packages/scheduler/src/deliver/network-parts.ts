import type { SpecNetworkRow, SpecRuleRow } from '@gantry/db/queries/hosts/known-rules';
import type { FirewallRule } from '@gantry/proto/generated/gantry/v1/FirewallRule';
import { type SpecPart, toSpecPart } from '../fleet/outgoing-spec.ts';

/** The parts of a host's spec that are about networks. All hosts of a network share them. */

/** The parts of a network's rules. The array is the same for all its hosts, until a rule changes. */
const ruleParts = new WeakMap<SpecRuleRow[], SpecPart[]>();
/** The parts of large rules, which are the same until the rule changes. */
const largeRuleParts = new WeakMap<SpecRuleRow, SpecPart>();
/** On average. A change of a rule sends its part to every host of the network. */
const RULES_PER_PART = 8;
/** A rule with more endpoints and ports than these is a part by itself. */
const SMALL_RULE_ENTRIES = 64;

/**
 * A change of a rule changes only its part: the id of a rule decides whether it is the last one of its
 * part, so that the others keep their place.
 */
export function toRuleParts(rules: SpecRuleRow[]): SpecPart[] {
  const known = ruleParts.get(rules);
  if (known) return known;
  const parts: SpecPart[] = [];
  let group: FirewallRule[] = [];
  const endGroup = () => {
    if (group.length > 0) parts.push(toSpecPart({ firewallRules: group }));
    group = [];
  };
  for (const rule of rules) {
    if (isLarge(rule)) {
      endGroup();
      parts.push(toLargeRulePart(rule));
      continue;
    }
    group.push(toFirewallRule(rule));
    if (Number.parseInt(rule.id.slice(-4), 16) % RULES_PER_PART === 0) endGroup();
  }
  endGroup();
  ruleParts.set(rules, parts);
  return parts;
}

function isLarge({ sources, destinations, source_ports, destination_ports }: SpecRuleRow): boolean {
  const ports = source_ports.length + destination_ports.length;
  return sources.length + destinations.length + ports > SMALL_RULE_ENTRIES;
}

function toLargeRulePart(rule: SpecRuleRow): SpecPart {
  const known = largeRuleParts.get(rule);
  if (known) return known;
  const part = toSpecPart({ firewallRules: [toFirewallRule(rule)] });
  largeRuleParts.set(rule, part);
  return part;
}

function toFirewallRule(rule: SpecRuleRow): FirewallRule {
  const meaning = (cidrs: (string | null)[]) => cidrs.filter((cidr) => cidr !== null);
  return {
    id: rule.id,
    networkId: rule.network_id,
    direction: rule.direction === 'ingress' ? 'DIRECTION_INGRESS' : 'DIRECTION_EGRESS',
    action: rule.action === 'allow' ? 'ACTION_ALLOW' : 'ACTION_DENY',
    protocols: rule.protocols,
    sources: meaning(rule.sources),
    sourcePorts: rule.source_ports,
    destinations: meaning(rule.destinations),
    destinationPorts: rule.destination_ports,
  };
}

/** The part of a network, which all hosts that were read together share. */
const networkParts = new WeakMap<SpecNetworkRow, SpecPart>();

export function toNetworkPart(network: SpecNetworkRow): SpecPart {
  const known = networkParts.get(network);
  if (known) return known;
  const { id, vni } = network;
  const subnets = network.subnets.map(({ cidr, gateway }) => ({ cidr, gatewayIpv4: gateway }));
  const part = toSpecPart({ networks: [{ id, vni, subnets, membersApart: true }] });
  networkParts.set(network, part);
  return part;
}
