import type { InterfaceSpec } from '../spec.ts';
import { renderYaml } from './yaml.ts';

export type GuestNetworkSettings = {
  /** For guests to resolve names by. Empty: they resolve none until the tenant sets some. */
  nameservers: readonly string[];
  /** Of every interface, where the network between hosts carries less than 1500. Absent: 1500. */
  mtu?: number;
};

/**
 * network-config, version 2. Interfaces are found by their hardware address and named eth0, eth1 and
 * so on: renderers that write files per name (ifupdown, sysconfig) cannot match by address. Routes
 * are written as 0.0.0.0/0 with `routes`: `gateway4` is deprecated in netplan, and "default" is not
 * known to older versions of cloud-init. Without interfaces it still says so: with no file at all
 * cloud-init would try DHCP.
 */
export function renderNetworkConfig(
  nics: readonly InterfaceSpec[],
  options: GuestNetworkSettings,
): string {
  const withNames = nics.find((nic) => nic.gatewayIpv4 !== '') ?? nics[0];
  const ethernets = nics.map((nic, index) => {
    const asked = nic.gatewayIpv4 !== '' || nic === withNames;
    const nameservers = asked ? options.nameservers : [];
    return [`eth${index}`, renderNic(nic, { index, nameservers, mtu: options.mtu })] as const;
  });
  return `${renderYaml({ version: 2, ethernets: Object.fromEntries(ethernets) })}\n`;
}

type Place = { index: number; nameservers: readonly string[]; mtu: number | undefined };

function renderNic(nic: InterfaceSpec, { index, nameservers, mtu }: Place) {
  return {
    match: { macaddress: nic.mac.toLowerCase() },
    'set-name': `eth${index}`,
    dhcp4: false,
    dhcp6: false,
    addresses: [nic.privateIpv4],
    ...(nic.gatewayIpv4 === '' ? {} : { routes: [defaultRoute(nic.gatewayIpv4, index)] }),
    ...(nameservers.length === 0 ? {} : { nameservers: { addresses: nameservers } }),
    ...(mtu === undefined ? {} : { mtu }),
  };
}

/** Two default routes of the same metric cannot be: the first interface's wins. */
function defaultRoute(via: string, index: number) {
  return { to: '0.0.0.0/0', via, ...(index === 0 ? {} : { metric: 100 * index }) };
}
