import type { HostSpec, Neighbour, NetworkSpec } from '../spec.ts';
import type { LedgerContent } from './ledger.ts';

/** The VMs of networks that arrived apart from the spec, by network. */
export type Members = ReadonlyMap<string, readonly Neighbour[]>;

/**
 * Returns the networks of a spec with their VMs on other hosts. Until those of a network arrive, the
 * ledger's count.
 */
export function networksWithMembers(
  spec: HostSpec,
  { last, members }: { last: HostSpec | null; members: Members },
): NetworkSpec[] {
  // A spec that an earlier version of the agent stored has no networks.
  const { networks = [] } = spec;
  if (!networks.some(({ membersApart }) => membersApart)) return networks;
  const known = new Map((last?.networks ?? []).map((network) => [network.id, network.neighbours]));
  const own = new Set(
    spec.vms.flatMap(({ interfaces }) =>
      interfaces.map(({ networkId, privateIpv4 }) => `${networkId} ${privateIpv4.split('/')[0]}`),
    ),
  );
  return networks.map((network) => {
    if (!network.membersApart) return network;
    const { id } = network;
    const all = members.get(id) ?? known.get(id) ?? [];
    const neighbours = all.filter(({ privateIpv4 }) => !own.has(`${id} ${privateIpv4}`));
    return { ...network, neighbours };
  });
}

/** Returns the ledger with the present VMs of the networks of its spec. */
export function withMembers(ledger: LedgerContent, members: Members): LedgerContent {
  const { spec } = ledger;
  if (spec === null) return ledger;
  return {
    ...ledger,
    spec: { ...spec, networks: networksWithMembers(spec, { last: spec, members }) },
  };
}
