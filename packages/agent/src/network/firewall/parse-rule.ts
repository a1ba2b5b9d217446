import { canonicalEndpointCidr, parseCidr } from '@gantry/model/cidr';
import { parsePorts } from '@gantry/model/ports';
import { HostFailure } from '../../base/failure.ts';
import type { FirewallRule } from '../../spec.ts';
import { isId } from '../parse-interface.ts';
import { mergeRanges, type Range } from './ranges.ts';

const PROTOCOLS = ['tcp', 'udp', 'icmp'] as const;
export type Protocol = (typeof PROTOCOLS)[number];

/** A rule whose fields are all checked. Without any range it matches nothing. */
export type Rule = {
  id: string;
  networkId: string;
  direction: 'ingress' | 'egress';
  action: 'allow' | 'deny';
  protocols: readonly Protocol[];
  sources: readonly Range[];
  sourcePorts: readonly Range[];
  destinations: readonly Range[];
  destinationPorts: readonly Range[];
};

export const EVERY_PORT: Range = { first: 0, last: 65_535 };
export const EVERY_ADDRESS: Range = { first: 0, last: 2 ** 32 - 1 };

export function parseRule(spec: FirewallRule): Rule {
  const fail = (why: string) =>
    new HostFailure('invalid_firewall_rule', `firewall rule ${spec.id}: ${why}`);
  if (!isId(spec.id)) throw fail('its id is not 1 to 64 letters, digits, ".", "_" or "-"');
  const unknown = spec.protocols.find((name) => !PROTOCOLS.some((known) => known === name));
  if (unknown !== undefined || spec.protocols.length === 0) {
    throw fail(`its protocols "${spec.protocols.join(' ')}" are not among ${PROTOCOLS.join(', ')}`);
  }
  const addresses = (texts: readonly string[]) =>
    mergeRanges(
      texts.map((text) => {
        const prefix = parseCidr(canonicalEndpointCidr(text) ?? '');
        if (!prefix) throw fail(`"${text}" is not a CIDR`);
        return { first: prefix.first, last: prefix.last };
      }),
    );
  const ports = (texts: readonly string[]) =>
    mergeRanges(
      (texts.length === 0 ? ['*'] : texts).map((text) => {
        const range = parsePorts(text);
        if (!range) throw fail(`"${text}" is not a port, a range of ports or "*"`);
        return range;
      }),
    );
  return {
    id: spec.id,
    networkId: spec.networkId,
    direction: parseDirection(spec.direction, fail),
    action: parseAction(spec.action, fail),
    protocols: PROTOCOLS.filter((name) => spec.protocols.includes(name)),
    sources: addresses(spec.sources),
    sourcePorts: ports(spec.sourcePorts),
    destinations: addresses(spec.destinations),
    destinationPorts: ports(spec.destinationPorts),
  };
}

type Fail = (why: string) => HostFailure;

function parseDirection(direction: FirewallRule['direction'], fail: Fail): Rule['direction'] {
  if (direction === 'DIRECTION_INGRESS') return 'ingress';
  if (direction === 'DIRECTION_EGRESS') return 'egress';
  throw fail(`its direction is ${direction}`);
}

function parseAction(action: FirewallRule['action'], fail: Fail): Rule['action'] {
  if (action === 'ACTION_ALLOW') return 'allow';
  if (action === 'ACTION_DENY') return 'deny';
  throw fail(`its action is ${action}`);
}
