import type { FirewallRule } from '@gantry/agent/spec';
import { makeRule } from '@gantry/agent/testing/make-spec';

/** Rules as tenants write them. None applies to the measured ports. */

type Body = Partial<FirewallRule>;

/** Two bytes of an address, different for each of 62,500 rules. */
const octets = (at: number) => `${Math.floor(at / 250) % 250}.${at % 250}`;
const rangeOf = (at: number) => `${30_000 + (at % 20) * 100}-${30_049 + (at % 20) * 100}`;

const SHAPES: ((at: number) => Body)[] = [
  // A service of one VM, open to everyone.
  (at) => ({ destinations: [`10.0.0.${at % 100}/32`], destinationPorts: [`${20_000 + at}`] }),
  // An office's network, for two services.
  (at) => ({ sources: [`172.${octets(at)}.0/24`], destinationPorts: ['22', '443'] }),
  // One VM for another.
  (at) => ({
    ...{ sources: [`10.0.${octets(at)}/32`], destinations: [`10.0.0.${at % 100}/32`] },
    destinationPorts: ['5432'],
  }),
  // A range of ports from somewhere.
  (at) => ({ sources: [`10.${octets(at)}.0/24`], destinationPorts: [rangeOf(at)] }),
  // A blocked address.
  (at) => ({ action: 'ACTION_DENY', sources: [`100.${octets(at)}.0/24`], destinationPorts: [] }),
  // Part of a subnet, for a service in two protocols.
  (at) => ({ protocols: ['tcp', 'udp'], sources: [`192.${octets(at)}.64/26`] }),
];

export function ordinaryRules(count: number, networkId: string): FirewallRule[] {
  return Array.from({ length: count }, (_, at) =>
    makeRule(`ordinary-${at}`, { networkId, ...SHAPES[at % SHAPES.length]?.(at) }),
  );
}
