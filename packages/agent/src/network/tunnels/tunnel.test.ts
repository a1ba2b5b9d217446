import { describe, expect, it } from 'vitest';
import { makeInterface, makeNetwork } from '../../testing/make-spec.ts';
import { renderFirewall } from '../firewall/render-firewall.ts';
import { networkNumber, tunnelMac, tunnelName } from '../kernel/names.ts';
import { parseInterface } from '../parse-interface.ts';
import { parseNetworks } from '../parse-network.ts';
import { isEmptyPlan, planTunnels } from './plan-tunnels.ts';
import { type PresentTunnels, parseTunnelLinks } from './present-tunnels.ts';
import { spanNetworks } from './tunnel.ts';
import { chooseUnderlay, refuseNarrow, type Underlay } from './underlay.ts';

const underlay: Underlay = {
  ...{ address: '192.0.2.1', device: 'eth0', mtu: 1500 },
  ownAddresses: new Set(['192.0.2.1', '192.0.2.255', '127.0.0.1']),
};
const interfaces = [parseInterface(makeInterface('web'))];
const neighbour = (privateIpv4: string, hostIpv4: string) => ({
  ...{ privateIpv4, hostIpv4, mac: '02:00:00:00:00:09' },
});
const tunnelsTo = (...neighbours: ReturnType<typeof neighbour>[]) =>
  spanNetworks(parseNetworks([makeNetwork('network-1', { vni: 7, neighbours })]), {
    ...{ interfaces, underlay },
  }).tunnels;
const name = tunnelName('network-1');
const table = networkNumber('network-1');
const nothing: PresentTunnels = { links: [], nextHops: [], stations: [], routes: [] };

describe('networks', () => {
  it.each([
    ['an id', { id: 'a b' }],
    ['a number', { vni: 0 }],
    ['a number of 24 bits', { vni: 2 ** 24 }],
    ['blocks as subnets', { subnets: [{ cidr: '10.0.0.1/24', gatewayIpv4: '10.0.0.1' }] }],
    ['a gateway', { subnets: [{ cidr: '10.0.0.0/24', gatewayIpv4: '10.0.0' }] }],
    ['addresses of VMs', { neighbours: [neighbour('10.0.0.6; reboot', '192.0.2.2')] }],
    ['addresses of hosts', { neighbours: [neighbour('10.0.0.6', 'host-2')] }],
  ])('without %s are refused', (_, change) => {
    const parse = () => parseNetworks([{ ...makeNetwork('network-1'), ...change }]);
    expect(parse).toThrow(expect.objectContaining({ code: 'invalid_network' }));
  });

  it('that share a number are refused', () => {
    const parse = () => parseNetworks([makeNetwork('a'), makeNetwork('b')]);
    expect(parse).toThrow('networks a and b share 1');
  });

  it('have a tunnel if this host has an interface in them and a VM is reachable on another host', () => {
    expect(tunnelsTo(neighbour('10.0.0.6', '192.0.2.2'))).toMatchObject([
      {
        ...{ name, vni: 7, mark: table, local: '192.0.2.1', mac: tunnelMac(7, '192.0.2.1') },
        peers: [{ host: '192.0.2.2', mac: tunnelMac(7, '192.0.2.2') }],
        routes: [{ address: '10.0.0.6', host: '192.0.2.2' }],
      },
    ]);
    expect(tunnelsTo()).toEqual([]);
    const others = makeNetwork('network-2', { neighbours: [neighbour('10.0.0.6', '192.0.2.2')] });
    expect(spanNetworks(parseNetworks([others]), { interfaces, underlay }).tunnels).toEqual([]);
  });

  it.each(['', '192.0.2.1', '192.0.2.255', '127.0.0.1', '0.0.0.0', '239.1.1.1', '255.255.255.255'])(
    'have no route to a VM whose host reports the address "%s"',
    (host) => {
      expect(tunnelsTo(neighbour('10.0.0.6', host))).toEqual([]);
    },
  );
});

describe('the underlay', () => {
  const links = [
    { ifname: 'lo', mtu: 65_536, addr_info: [{ local: '127.0.0.1', scope: 'host' }] },
    {
      ...{ ifname: 'eth0', mtu: 1500 },
      addr_info: [{ local: '192.0.2.1', broadcast: '192.0.2.255', scope: 'global' }],
    },
    { ifname: 'eth1', mtu: 9000, addr_info: [{ local: '198.51.100.1', scope: 'global' }] },
  ];
  const choose = (choice: { address?: string; uplink?: string; dev?: string }) =>
    chooseUnderlay(links, {
      ...{ address: choice.address, uplink: choice.uplink ?? null },
      routes: choice.dev ? [{ dev: 'eth9', metric: 100 }, { dev: choice.dev }] : [],
    });

  it('is the configured address, or the uplink’s, or the default route’s', () => {
    expect(choose({ address: '198.51.100.1', uplink: 'eth0' })).toMatchObject({ device: 'eth1' });
    expect(choose({ uplink: 'eth1', dev: 'eth0' })).toMatchObject({ address: '198.51.100.1' });
    expect(choose({ dev: 'eth0' })).toMatchObject({ address: '192.0.2.1', mtu: 1500 });
    expect(choose({ dev: 'eth0' })?.ownAddresses).toContain('192.0.2.255');
  });

  it('is absent if the host has no such address', () => {
    expect(choose({ address: '203.0.113.1', dev: 'eth0' })).toBeNull();
    expect(choose({ address: '127.0.0.1' })).toBeNull();
    expect(choose({ uplink: 'eth7', dev: 'eth0' })).toBeNull();
    expect(choose({})).toBeNull();
  });

  it('is refused if guests’ packets do not fit', () => {
    expect(() => refuseNarrow(underlay, 1450)).not.toThrow();
    expect(() => refuseNarrow(underlay, 1451)).toThrow(
      expect.objectContaining({ code: 'underlay_mtu_too_small' }),
    );
  });
});

describe('a plan', () => {
  const tunnels = tunnelsTo(neighbour('10.0.0.6', '192.0.2.2'));
  const mac = tunnelMac(7, '192.0.2.2');
  const listing = JSON.stringify([
    {},
    { ifname: 'vxlan0', linkinfo: { info_data: { id: 7 } } },
    {
      ...{ ifname: name, ifalias: 'gantry:tunnel:network-1', mtu: 1450, flags: ['UP'] },
      address: tunnelMac(7, '192.0.2.1'),
      linkinfo: { info_data: { id: 7, local: '192.0.2.1', port: 4789, learning: false } },
    },
  ]);
  const present: PresentTunnels = {
    links: parseTunnelLinks(listing),
    nextHops: [{ name, host: '192.0.2.2', mac }],
    stations: [{ name, host: '192.0.2.2', mac }],
    routes: [{ name, table, address: '10.0.0.6', host: '192.0.2.2' }],
  };
  const plan = (to: typeof tunnels, from = present) =>
    planTunnels(from, { tunnels: to, mtu: 1450 });

  it('is empty if and only if everything is as desired', () => {
    expect(isEmptyPlan(plan(tunnels))).toBe(true);
    expect(isEmptyPlan(plan(tunnels, { ...present, routes: [] }))).toBe(false);
  });

  it('brings a tunnel up after it is configured, and adds the routes last', () => {
    expect(plan(tunnels, nothing)).toEqual({
      links: [
        `link add name ${name} address ${tunnelMac(7, '192.0.2.1')} mtu 1450 type vxlan id 7 local 192.0.2.1 dstport 4789 nolearning`,
        `link set dev ${name} alias gantry:tunnel:network-1`,
      ],
      fresh: [name],
      stations: [`fdb replace ${mac} dev ${name} dst 192.0.2.2 self static`],
      ways: [
        `link set dev ${name} up`,
        `neigh replace 192.0.2.2 lladdr ${mac} dev ${name} nud permanent`,
        `route replace 10.0.0.6 via 192.0.2.2 dev ${name} table ${table} onlink`,
      ],
      forgotten: [],
    });
  });

  it('replaces the route to a VM that moved, and removes the host it left last', () => {
    const next = tunnelMac(7, '192.0.2.3');
    expect(plan(tunnelsTo(neighbour('10.0.0.6', '192.0.2.3')))).toEqual({
      ...{ links: [], fresh: [] },
      stations: [`fdb replace ${next} dev ${name} dst 192.0.2.3 self static`],
      ways: [
        `neigh replace 192.0.2.3 lladdr ${next} dev ${name} nud permanent`,
        `route replace 10.0.0.6 via 192.0.2.3 dev ${name} table ${table} onlink`,
        `neigh delete 192.0.2.2 lladdr ${mac} dev ${name}`,
      ],
      forgotten: [`fdb delete ${mac} dev ${name} dst 192.0.2.2 self`],
    });
  });

  it('removes a tunnel of the agent that is not needed, and recreates one that differs', () => {
    expect(plan([])).toMatchObject({ links: [`link delete dev ${name}`], ways: [] });
    const links = present.links.map((link) => ({ ...link, local: '192.0.2.77' }));
    expect(plan(tunnels, { ...present, links }).links[0]).toBe(`link delete dev ${name}`);
    const foreign = present.links.map((link) => ({ ...link, alias: 'somebody' }));
    expect(isEmptyPlan(plan([], { ...present, links: foreign }))).toBe(true);
    expect(() => plan(tunnels, { ...present, links: foreign })).toThrow('rename or remove it');
  });
});

describe('rules', () => {
  const rendered = (hosts: string[]) =>
    renderFirewall(
      {
        ...{ rules: [], interfaces: [makeInterface('web')] },
        networks: [
          makeNetwork('network-1', {
            ...{ vni: 7, neighbours: hosts.map((host) => neighbour('10.0.0.6', host)) },
          }),
        ],
      },
      'eth0',
      underlay,
    );

  it('accept what a VM’s own host sends for it in its network, and change with the host', () => {
    const { text, digest } = rendered(['192.0.2.2']);
    expect(text).toContain(`192.0.2.2 . ${7 * 256} . ${0x0a000006}`);
    expect(text).toContain('ip daddr 192.0.2.1 udp dport 4789 jump from_peer');
    expect(rendered(['192.0.2.3']).digest).not.toBe(digest);
  });

  it('do not mention VXLAN on a host without a tunnel, because another program may use it', () => {
    expect(rendered([]).text).not.toContain('4789');
  });
});
