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

/** Commands of `ip` before the bridge is up and after, and settings of the kernel between them. */
export type BridgePlan = { made: string[]; kernel: string[]; up: string[] };

/**
 * A network's bridge, and the way into it. Its ports do not hear each other: the host answers for
 * every other guest (`proxy_arp_pvlan`) and routes between them, so that all traffic passes the
 * rules of the inet family with their connection tracking, on kernels with and without one for
 * bridges. The network's own routing table keeps two tenants with the same addresses apart.
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
      // Setting it, even to what it is, makes the kernel forget every neighbour behind the bridge.
      ...(found?.mac === mac ? [] : [`link set dev ${bridge} address ${mac}`]),
      `link set dev ${bridge} mtu ${settings.mtu}`,
    ],
    kernel: kernelSettings(bridge, settings.uplink),
    up: [
      `address replace ${HOST_ADDRESS}/32 dev ${bridge} scope link`,
      `link set dev ${bridge} up`,
      // Nobody answers for an address that no guest has.
      ...(nic.subnet.endsWith('/32')
        ? []
        : [`route replace unreachable ${nic.subnet} table ${mark}`]),
      ...(nic.gateway === null ? [] : [routeTo(nic.gateway, nic)]),
      routeTo(METADATA_ADDRESS, nic),
      // Any bridge will do: where a reply goes is decided when it leaves, by the network's mark.
      `route replace ${SERVICE_BLOCK} dev ${bridge} src ${HOST_ADDRESS} metric ${mark}`,
      // Where the host checks the sources of all.
      `route replace ${SERVICE_BLOCK} dev ${bridge} src ${HOST_ADDRESS} table ${mark}`,
    ],
  };
}

export function routeTo(address: string, { bridge, mark }: Nic): string {
  return `route replace ${address}/32 dev ${bridge} src ${HOST_ADDRESS} table ${mark}`;
}

/** One without an alias is ours, left by a start that was cut off: nobody else has such names. */
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
    // The same for guests on other hosts, who are behind another interface.
    proxy_arp: 1,
    send_redirects: 0,
    accept_redirects: 0,
    // Only for the address that is the bridge's own, and for guests.
    arp_ignore: 1,
    // Sources are checked on the taps; where the host checks all, it finds them by their mark.
    rp_filter: 0,
    src_valid_mark: 1,
  };
  return [
    ...Object.entries(ofBridge).map(([key, value]) => `net.ipv4.conf.${bridge}.${key}=${value}`),
    `net.ipv4.neigh.${bridge}.proxy_delay=0`,
    // What the kernel itself answers to a guest goes back into the guest's network.
    'net.ipv4.fwmark_reflect=1',
    ...(uplink === null ? [] : [`net.ipv4.conf.${uplink}.forwarding=1`]),
  ];
}
