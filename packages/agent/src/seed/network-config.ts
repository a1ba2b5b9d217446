import type { InterfaceSpec } from '../spec.ts';
import { renderYaml } from './yaml.ts';

export type GuestNetworkSettings = {
  /** Empty: guests resolve no names until the tenant configures name servers. */
  nameservers: readonly string[];
  /**
   * The MTU of every interface, if the network between hosts carries less than 1500. Absent: 1500.
   */
  mtu?: number;
};

/**
 * Returns the name servers for guests. Read for every use, because the host may learn its own later
 * than the agent starts, and may learn others.
 */
export type NameServers = () => Promise<readonly string[]>;

/**
 * Renders network-config, version 2. Interfaces are matched by hardware address and named eth0,
 * eth1 and so on, because renderers that write one file per name (ifupdown, sysconfig) cannot match
 * by address. Routes are written as 0.0.0.0/0 with `routes`: `gateway4` is deprecated in netplan,
 * and older versions of cloud-init do not know "default". The file is written also without
 * interfaces, because without a file cloud-init would try DHCP.
 */
export function renderNetworkConfig(
  interfaces: readonly InterfaceSpec[],
  options: GuestNetworkSettings,
): string {
  const withNames = interfaces.find((iface) => iface.gatewayIpv4 !== '') ?? interfaces[0];
  const ethernets = interfaces.map((iface, index) => {
    const asked = iface.gatewayIpv4 !== '' || iface === withNames;
    const nameservers = asked ? options.nameservers : [];
    return [
      `eth${index}`,
      renderInterface(iface, { index, nameservers, mtu: options.mtu }),
    ] as const;
  });
  return `${renderYaml({ version: 2, ethernets: Object.fromEntries(ethernets) })}\n`;
}

type Place = { index: number; nameservers: readonly string[]; mtu: number | undefined };

function renderInterface(iface: InterfaceSpec, { index, nameservers, mtu }: Place) {
  return {
    match: { macaddress: iface.mac.toLowerCase() },
    'set-name': `eth${index}`,
    dhcp4: false,
    dhcp6: false,
    addresses: [iface.privateIpv4],
    ...(iface.gatewayIpv4 === '' ? {} : { routes: [defaultRoute(iface.gatewayIpv4, index)] }),
    ...(nameservers.length === 0 ? {} : { nameservers: { addresses: nameservers } }),
    ...(mtu === undefined ? {} : { mtu }),
  };
}

/** Two default routes cannot have the same metric; the first interface's wins. */
function defaultRoute(via: string, index: number) {
  return { to: '0.0.0.0/0', via, ...(index === 0 ? {} : { metric: 100 * index }) };
}
