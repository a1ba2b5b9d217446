import { tunnelAlias, tunnelMac } from '../kernel/names.ts';
import type { VmInterface } from '../parse-interface.ts';
import type { Network, Subnet } from '../parse-network.ts';
import { isPeer, type Underlay } from './underlay.ts';

/** The port that IANA assigned to VXLAN. */
export const VXLAN_PORT = 4789;

/** One network's tunnel to its VMs on other hosts. */
export type Tunnel = {
  networkId: string;
  name: string;
  alias: string;
  vni: number;
  mark: number;
  bridge: string;
  mac: string;
  local: string;
  /** The hosts at the other end. */
  peers: readonly { host: string; mac: string }[];
  /** Which VM is behind which host. */
  routes: readonly { address: string; host: string }[];
};

/** What a host must know about the networks of its interfaces. */
export type Span = {
  subnets: readonly Subnet[];
  tunnels: readonly Tunnel[];
  underlay: string | null;
};

export function spanNetworks(
  networks: readonly Network[],
  { interfaces, underlay }: { interfaces: readonly VmInterface[]; underlay: Underlay | null },
): Span {
  const used = new Set(interfaces.map(({ networkId }) => networkId));
  const here = networks.filter(({ id }) => used.has(id));
  return {
    subnets: here.flatMap(({ subnets }) => subnets),
    tunnels: underlay === null ? [] : here.flatMap((network) => tunnelOf(network, underlay)),
    underlay: underlay?.address ?? null,
  };
}

function tunnelOf(network: Network, underlay: Underlay): Tunnel[] {
  const { id, vni, mark, bridge, tunnel } = network;
  const routes = network.neighbours.flatMap(({ address, host }) =>
    host !== null && isPeer(host, underlay) ? [{ address, host }] : [],
  );
  if (routes.length === 0) return [];
  const hosts = [...new Set(routes.map(({ host }) => host))].sort();
  return [
    {
      ...{ networkId: id, name: tunnel, alias: tunnelAlias(id), vni, mark, bridge, routes },
      mac: tunnelMac(vni, underlay.address),
      local: underlay.address,
      peers: hosts.map((host) => ({ host, mac: tunnelMac(vni, host) })),
    },
  ];
}

/** Returns whether the underlay must be read: most hosts' networks exist on one host only. */
export function hasNeighbours(networks: readonly Network[]): boolean {
  return networks.some(({ neighbours }) => neighbours.some(({ host }) => host !== null));
}
