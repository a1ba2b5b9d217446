import { parseIpv4 } from '@gantry/model/cidr';
import { BRIDGE_PREFIX, TUNNEL_PREFIX } from '../kernel/names.ts';
import { quote, renderBlock, renderSet } from '../kernel/nft-text.ts';
import { type Span, type Tunnel, VXLAN_PORT } from '../tunnels/tunnel.ts';

const EVERY_BRIDGE = quote(`${BRIDGE_PREFIX}*`);
const EVERY_TUNNEL = quote(`${TUNNEL_PREFIX}*`);

/** Before connection tracking, so that dropped packets leave no entries in it. */
const ARRIVING = 'type filter hook prerouting priority raw - 10; policy accept;';
const ELSEWHERE = 'from a tunnel to elsewhere';

/**
 * Bit offsets within a UDP packet that carries VXLAN: after 8 bytes of UDP, 8 of VXLAN, 14 of
 * Ethernet.
 */
const VNI = '@th,96,32';
const INNER_TYPE = '@th,224,16';
const INNER_SOURCE = '@th,336,32';

/**
 * What may pass between hosts. A packet from the underlay is accepted only if its host, its network
 * and its inner source belong together according to the spec; this is decided while the packet
 * still shows the host it came from. From then on it belongs to its network, with that network's
 * mark and zone, and its only route is to the network's bridge. In the other direction only guests'
 * packets pass. An unused address of a network is not reachable anywhere else either.
 */
export function renderTunnels(
  { tunnels, underlay }: Span,
  zones: ReadonlyMap<string, number>,
): string[] {
  const forward = renderBlock('chain span_forward', [
    'type filter hook forward priority filter - 5; policy accept;',
    `oifname ${EVERY_TUNNEL} iifname != ${EVERY_BRIDGE} counter drop comment "from elsewhere to a tunnel"`,
    `iifname ${EVERY_BRIDGE} oifname != ${EVERY_BRIDGE} oifname != ${EVERY_TUNNEL} meta mark . ip daddr @inside counter reject with icmp type host-unreachable comment "nobody has this address"`,
  ]);
  // A tunnel that is about to be removed, or that was left behind.
  const unwanted = `iifname ${EVERY_TUNNEL} counter drop comment "${ELSEWHERE}"`;
  if (tunnels.length === 0 || underlay === null) {
    return [renderBlock('chain span_arriving', [ARRIVING, unwanted]), forward];
  }
  return [
    ...renderPeers(tunnels),
    renderSet({
      ...{ kind: 'map', name: 'tunnel_marks', of: 'type ifname : mark' },
      elements: tunnels.map(({ name, mark }) => `${quote(name)} : ${mark}`),
    }),
    renderSet({
      ...{ kind: 'map', name: 'tunnel_zones', of: 'typeof iifname : ct zone' },
      elements: tunnels.map(({ name, networkId }) => `${quote(name)} : ${zones.get(networkId)}`),
    }),
    renderBlock('chain from_peer', [
      `ip saddr . ${VNI} . ${INNER_SOURCE} @neighbours ${INNER_TYPE} 0x0800 accept`,
      'ip saddr != @peers counter drop comment "VXLAN from a stranger"',
      `ip saddr . ${VNI} != @peer_networks counter drop comment "VXLAN of a foreign network"`,
      'counter drop comment "VXLAN with a foreign source"',
    ]),
    renderBlock('chain span_arriving', [
      ARRIVING,
      `ip daddr ${underlay} udp dport ${VXLAN_PORT} jump from_peer`,
      `iifname ${EVERY_TUNNEL} meta mark set iifname map @tunnel_marks`,
      // Here and not in forward, because the kernel would send an ICMP error by some route.
      `iifname ${EVERY_TUNNEL} fib daddr . mark oifname != ${EVERY_BRIDGE} counter drop comment "${ELSEWHERE}"`,
      `iifname ${EVERY_TUNNEL} ct zone set iifname map @tunnel_zones`,
    ]),
    forward,
    renderBlock('chain span_output', [
      'type filter hook output priority filter - 5; policy accept;',
      `oifname ${EVERY_TUNNEL} counter drop comment "from the host to a tunnel"`,
    ]),
    renderBlock('chain span_leaving', [
      'type filter hook postrouting priority srcnat + 10; policy accept;',
      // A guest without a public address leaves with the host's own address, which peers trust.
      `iifname ${EVERY_BRIDGE} ip saddr ${underlay} udp dport ${VXLAN_PORT} counter drop comment "VXLAN from a guest"`,
      // Otherwise the outer packet would be routed by the tenant's table and not by the host's.
      `oifname ${EVERY_TUNNEL} meta mark set 0`,
    ]),
  ];
}

function renderPeers(tunnels: readonly Tunnel[]): string[] {
  const hosts = tunnels.flatMap(({ peers }) => peers.map(({ host }) => host));
  const networks = tunnels.flatMap((tunnel) =>
    tunnel.peers.map(({ host }) => `${host} . ${vniWord(tunnel)}`),
  );
  const neighbours = tunnels.flatMap((tunnel) =>
    tunnel.routes.map(
      ({ address, host }) => `${host} . ${vniWord(tunnel)} . ${parseIpv4(address)}`,
    ),
  );
  return [
    renderSet({ kind: 'set', name: 'peers', of: 'type ipv4_addr', elements: hosts }),
    renderSet({
      ...{ kind: 'set', name: 'peer_networks', of: `typeof ip saddr . ${VNI}` },
      elements: networks,
    }),
    renderSet({
      ...{ kind: 'set', name: 'neighbours', of: `typeof ip saddr . ${VNI} . ${INNER_SOURCE}` },
      elements: neighbours,
    }),
  ];
}

/** A network's number has 24 bits, followed by a zero byte. */
function vniWord({ vni }: Tunnel): number {
  return vni * 2 ** 8;
}
