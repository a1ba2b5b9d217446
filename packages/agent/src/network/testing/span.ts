import type { FirewallRule, InterfaceSpec, NetworkSpec } from '../../spec.ts';
import { makeInterface, makeNetwork, makeRule } from '../../testing/make-spec.ts';
import type { Guest } from './guest.ts';
import { type Lab, openLab } from './lab.ts';
import { joinLabs, underlayAddress } from './underlay.ts';

/** Where every VM is: the interfaces on each host, by index. */
export type Places = readonly (readonly InterfaceSpec[])[];

export const VNIS: Record<string, number> = { red: 7001, blue: 7002 };
const subnets = [
  { cidr: '10.0.0.0/24', gatewayIpv4: '10.0.0.1' },
  { cidr: '10.0.1.0/24', gatewayIpv4: '10.0.1.1' },
];

/** A network with two VMs in one subnet and a third in another. All networks are alike. */
export const interfacesOf = (networkId: string) => ({
  web: makeInterface(`${networkId}-web`, {
    ...{ networkId, privateIpv4: '10.0.0.5/24', mac: '02:00:00:00:00:05' },
  }),
  app: makeInterface(`${networkId}-app`, {
    ...{ networkId, privateIpv4: '10.0.0.6/24', mac: '02:00:00:00:00:06' },
  }),
  far: makeInterface(`${networkId}-far`, {
    ...{ networkId, privateIpv4: '10.0.1.7/24', mac: '02:00:00:00:00:07' },
    gatewayIpv4: '10.0.1.1',
  }),
});

export const openRules = (networkId: string): FirewallRule[] => {
  const everything = { protocols: ['tcp', 'udp', 'icmp'], destinationPorts: [], networkId };
  return [
    makeRule(`${networkId}-in`, everything),
    makeRule(`${networkId}-out`, { ...everything, direction: 'DIRECTION_EGRESS' }),
  ];
};

/** The firewall of the host with this index. */
export function firewallOf(
  places: Places,
  { index, rules }: { index: number; rules?: readonly FirewallRule[] | undefined },
) {
  const interfaces = places[index] ?? [];
  const elsewhere = places.flatMap((others, host) =>
    host === index ? [] : others.map((iface) => ({ iface, hostIpv4: underlayAddress(host) })),
  );
  const ids = [...new Set(interfaces.map(({ networkId }) => networkId))];
  const networks: NetworkSpec[] = ids.map((id) =>
    makeNetwork(id, {
      ...{ vni: VNIS[id] ?? 0, subnets },
      neighbours: elsewhere
        .filter(({ iface }) => iface.networkId === id)
        .map(({ iface, hostIpv4 }) => {
          const [privateIpv4 = ''] = iface.privateIpv4.split('/');
          return { privateIpv4, mac: iface.mac, hostIpv4 };
        }),
    }),
  );
  return { rules: rules ?? ids.flatMap(openRules), interfaces, networks };
}

/** Hosts connected by a switch, with VMs. `close` removes everything. */
export async function openSpan(hosts: number) {
  const labs: Lab[] = [];
  const guests = new Map<string, Guest>();
  const closeLabs = async () => {
    for (const lab of labs.splice(0)) await lab.close();
  };
  const connect = async () => {
    while (labs.length < hosts) labs.push(await openLab());
    return await joinLabs(labs);
  };
  const wire = await connect().catch(async (error) => {
    await closeLabs();
    throw error;
  });
  const nodes = labs.map((lab, index) => ({
    lab,
    network: lab.network({ underlayAddress: underlayAddress(index) }),
  }));
  const node = (index: number) => {
    const found = nodes[index];
    if (!found) throw new Error(`no host ${index}`);
    return found;
  };
  return {
    wire,
    node,
    at(id: string): Guest {
      const guest = guests.get(id);
      if (!guest) throw new Error(`no guest ${id}`);
      return guest;
    },
    /** Applies the firewall on every host. */
    async apply(places: Places): Promise<void> {
      await Promise.all(
        nodes.map(({ network }, index) => network.applyFirewall(firewallOf(places, { index }))),
      );
    },
    async bringUp(iface: InterfaceSpec, index: number): Promise<void> {
      const { lab, network } = node(index);
      guests.set(iface.id, await lab.addGuest(iface));
      await network.ensureInterfaces(`vm-${iface.id}`, [iface]);
    },
    async close(): Promise<void> {
      await wire.close();
      await closeLabs();
    },
  };
}

export type HostSpan = Awaited<ReturnType<typeof openSpan>>;
