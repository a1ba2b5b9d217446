import { HostFailure } from '../../base/failure.ts';
import type { Link } from '../kernel/links.ts';
import { bridgeAlias, bridgeMac, HOST_ADDRESS } from '../kernel/names.ts';
import { METADATA_ADDRESS, SERVICE_BLOCK } from '../kernel/service-addresses.ts';
import type { Nic } from '../parse-interface.ts';

export type BridgeSettings = {
  mtu: number;
  uplink: string | null;
  reachableFromHost: boolean;
};

/** `ip` commands before and after the bridge is up, and kernel settings between them. */
export type BridgePlan = { made: string[]; kernel: string[]; up: string[] };

/**
 * Plans a network's bridge and the routes into it. Its ports are isolated: the host replies to ARP
 * for every other guest (`proxy_arp_pvlan`) and routes between guests, so that all traffic passes
 * the rules of the inet family with connection tracking, on kernels with and without bridge
 * connection tracking. The network's own routing table separates tenants with the same addresses.
 */
export function planBridge(
  nic: Nic,
  { links, settings }: { links: readonly Link[]; settings: BridgeSettings },
): BridgePlan {
  const { bridge, networkId, mark } = nic;
  const alias = bridgeAlias(networkId);
  const found = links.find(({ name }) => name === bridge);
  refuseForeign(found, alias);
  const mac = bridgeMac(networkId);
  return {
    made: [
      ...(found ? [] : [`link add name ${bridge} type bridge`]),
      `link set dev ${bridge} alias ${alias}`,
      `link set dev ${bridge} type bridge stp_state 0 forward_delay 0 mcast_snooping 0`,
      // Setting the address, even to the same value, makes the kernel forget all neighbours behind
      // the bridge.
      ...(found?.mac === mac ? [] : [`link set dev ${bridge} address ${mac}`]),
      `link set dev ${bridge} mtu ${settings.mtu}`,
    ],
    kernel: kernelSettings(bridge, settings.uplink),
    up: [
      `address replace ${HOST_ADDRESS}/32 dev ${bridge} scope link`,
      `link set dev ${bridge} up`,
      // An address that no guest has is unreachable.
      ...(nic.subnet.endsWith('/32')
        ? []
        : [`route replace unreachable ${nic.subnet} table ${mark}`]),
      ...(nic.gateway === null ? [] : [routeTo(nic.gateway, nic)]),
      routeTo(METADATA_ADDRESS, nic),
      // Any bridge works: the network's mark decides where a reply leaves.
      `route replace ${SERVICE_BLOCK} dev ${bridge} src ${HOST_ADDRESS} metric ${mark}`,
      // For hosts that check the sources of all packets.
      `route replace ${SERVICE_BLOCK} dev ${bridge} src ${HOST_ADDRESS} table ${mark}`,
    ],
  };
}

export function routeTo(address: string, { bridge, mark }: Nic): string {
  return `route replace ${address}/32 dev ${bridge} src ${HOST_ADDRESS} table ${mark}`;
}

/** A link with such a name and without an alias is the agent's, left by an interrupted start. */
export function refuseForeign(
  found: Pick<Link, 'name' | 'alias'> | undefined,
  alias: string,
): void {
  const owner = alias.split(':').slice(0, 3).join(':');
  if (!found || found.alias === '' || `${found.alias}:`.startsWith(`${owner}:`)) return;
  const message = `interface ${found.name} is there already, as "${found.alias}": rename or remove it`;
  throw new HostFailure('interface_taken', message);
}

function kernelSettings(bridge: string, uplink: string | null): string[] {
  const ofBridge = {
    forwarding: 1,
    proxy_arp_pvlan: 1,
    // The same for guests on other hosts, which are behind another interface.
    proxy_arp: 1,
    send_redirects: 0,
    accept_redirects: 0,
    // Only for the bridge's own address, and for guests.
    arp_ignore: 1,
    // Sources are checked on the taps; a host that checks all sources finds the route by the mark.
    rp_filter: 0,
    src_valid_mark: 1,
  };
  return [
    ...Object.entries(ofBridge).map(([key, value]) => `net.ipv4.conf.${bridge}.${key}=${value}`),
    `net.ipv4.neigh.${bridge}.proxy_delay=0`,
    // What the kernel itself replies to a guest returns to the guest's network.
    'net.ipv4.fwmark_reflect=1',
    ...(uplink === null ? [] : [`net.ipv4.conf.${uplink}.forwarding=1`]),
  ];
}
