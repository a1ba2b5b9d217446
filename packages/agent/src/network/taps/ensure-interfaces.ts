import { allSettledOrThrow } from '@gantry/daemon/all-settled-or-throw';
import { HostFailure } from '../../base/failure.ts';
import { listCovered } from '../firewall/firewall-in-kernel.ts';
import { batch, withoutIpv6 } from '../kernel/link-commands.ts';
import { findTaps, type Link, listLinks, refuseForeign } from '../kernel/links.ts';
import { bridgeAlias, bridgeMac, HOST_ADDRESS, tapAlias } from '../kernel/names.ts';
import { planRoutingRules } from '../kernel/routing-rules.ts';
import type { RunCommand } from '../kernel/run-command.ts';
import { METADATA_ADDRESS, SERVICE_BLOCK } from '../kernel/service-addresses.ts';
import { checkVmId, type VmInterface } from '../parse-interface.ts';
import { forgetAddress, removeTapsOf } from './remove-tap.ts';

export type InterfaceOptions = {
  mtu: number;
  uplink: string | null;
  reachableFromHost: boolean;
};

type InterfacesOrder = {
  vmId: string;
  interfaces: readonly VmInterface[];
  options: InterfaceOptions;
};

/** Creates the interfaces of a VM and removes those that the VM no longer has. */
export async function ensureInterfaces(run: RunCommand, order: InterfacesOrder): Promise<void> {
  const { vmId, interfaces, options } = order;
  checkVmId(vmId);
  const [present] = await allSettledOrThrow([listLinks(run), refuseUncovered(run, interfaces)]);
  const kept = new Set(interfaces.map(({ tap }) => tap));
  let links = await removeTapsOf(run, vmId, { links: present, kept });
  for (const iface of interfaces) {
    await ensureInterface(run, { vmId, iface, links, options });
    if (iface !== interfaces.at(-1)) links = await listLinks(run);
  }
}

async function refuseUncovered(run: RunCommand, interfaces: readonly VmInterface[]): Promise<void> {
  if (interfaces.length === 0) return;
  const covered = await listCovered(run);
  const bare = interfaces.find(({ tap, mac, address }) => !covered.has(`${tap} ${mac} ${address}`));
  if (!bare) return;
  const message = `interface ${bare.id} would start without rules: apply the firewall first`;
  throw new HostFailure('not_filtered', message);
}

type InterfaceOrder = {
  vmId: string;
  iface: VmInterface;
  links: readonly Link[];
  options: InterfaceOptions;
};

/**
 * Creates one interface of a VM: its network's bridge and its tap, configured and then brought up.
 * Starting a program takes longer than its work, so commands share one if possible, and independent
 * commands run concurrently.
 */
async function ensureInterface(run: RunCommand, { vmId, iface, links, options }: InterfaceOrder) {
  const { tap, bridge, mark } = iface;
  const { mtu, reachableFromHost } = options;
  const bridgePlan = planBridge(iface, { links, options });
  const tapPlan = planTap(iface, { vmId, links, mtu });
  const before = findTaps(links).find(({ name }) => name === tap);
  if (before && (before.address !== iface.address || before.bridge !== bridge)) {
    await forgetAddress(run, before, links);
  }
  await batch(run, 'ip', [...bridgePlan.made, ...tapPlan.made]);
  const [missingRules] = await allSettledOrThrow([
    planRoutingRules(run, { mark, reachableFromHost }),
    run('sysctl', ['-qw', ...bridgePlan.kernel]),
    withoutIpv6(run, [bridge, tap]),
    batch(run, 'bridge', tapPlan.port),
  ]);
  await batch(run, 'ip', [...missingRules, ...bridgePlan.up, ...tapPlan.up]);
}

/** `ip` commands before and after the bridge is up, and kernel settings between them. */
type BridgePlan = { made: string[]; kernel: string[]; up: string[] };

/**
 * Plans a network's bridge and the routes into it. Its ports are isolated. The host replies to ARP
 * for every other guest (`proxy_arp_pvlan`) and routes between guests. So all traffic passes the
 * rules of the inet family, which have connection tracking on every kernel; rules of the bridge
 * family do not. The network's own routing table separates tenants with the same addresses.
 */
function planBridge(
  iface: VmInterface,
  { links, options }: { links: readonly Link[]; options: InterfaceOptions },
): BridgePlan {
  const { bridge, networkId, mark } = iface;
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
      `link set dev ${bridge} mtu ${options.mtu}`,
    ],
    kernel: kernelSettings(bridge, options.uplink),
    up: [
      `address replace ${HOST_ADDRESS}/32 dev ${bridge} scope link`,
      `link set dev ${bridge} up`,
      // An address that no guest has is unreachable.
      ...(iface.subnet.endsWith('/32')
        ? []
        : [`route replace unreachable ${iface.subnet} table ${mark}`]),
      ...(iface.gateway === null ? [] : [routeTo(iface.gateway, iface)]),
      routeTo(METADATA_ADDRESS, iface),
      // Any bridge works: the network's mark decides where a reply leaves.
      `route replace ${SERVICE_BLOCK} dev ${bridge} src ${HOST_ADDRESS} metric ${mark}`,
      // For hosts that check the sources of all packets.
      `route replace ${SERVICE_BLOCK} dev ${bridge} src ${HOST_ADDRESS} table ${mark}`,
    ],
  };
}

function routeTo(address: string, { bridge, mark }: VmInterface): string {
  return `route replace ${address}/32 dev ${bridge} src ${HOST_ADDRESS} table ${mark}`;
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

/**
 * `ip` commands before the tap is up, `bridge` commands for its port, and `ip` commands to bring it
 * up.
 */
type TapPlan = { made: string[]; port: string[]; up: string[] };

/**
 * Plans a guest's tap. It is persistent, so that it is filtered before QEMU opens it and outlives
 * QEMU. It is brought up last. It has several queues, and QEMU must ask for them when it opens it.
 * The kernel gets permanent entries for the addresses, so it never sends ARP requests for them.
 */
function planTap(
  iface: VmInterface,
  { vmId, links, mtu }: { vmId: string; links: readonly Link[]; mtu: number },
): TapPlan {
  const { tap, bridge, mac, address } = iface;
  const alias = tapAlias(vmId, iface);
  const found = links.find(({ name }) => name === tap);
  refuseForeign(found, alias);
  return {
    made: [
      ...(found ? [] : [`tuntap add dev ${tap} mode tap multi_queue`]),
      `link set dev ${tap} alias ${alias}`,
      `link set dev ${tap} mtu ${mtu} master ${bridge}`,
    ],
    port: [
      `link set dev ${tap} isolated on learning off flood off mcast_flood off`,
      `fdb replace ${mac} dev ${tap} master static`,
    ],
    up: [
      `neigh replace ${address} lladdr ${mac} nud permanent dev ${bridge}`,
      routeTo(address, iface),
      `link set dev ${tap} up`,
    ],
  };
}
