import { HostFailure } from '../../base/failure.ts';
import { refuseForeign } from '../kernel/links.ts';
import type { PresentTunnels, TunnelLink } from './present-tunnels.ts';
import { type Tunnel, VXLAN_PORT } from './tunnel.ts';

/**
 * Plans the commands from the present tunnels to the desired ones, in the order in which they run.
 * Nothing is flooded or learnt: a tunnel knows each peer host, and routes in the network's table
 * say which VM is behind which host; everything else is unreachable. A VM that moved is one
 * replaced route. All of it belongs to the tunnel, and the kernel removes it with the tunnel.
 */
export type TunnelPlan = {
  /** `ip` commands: removed tunnels, then new ones, which are not up yet. */
  links: string[];
  /** Names of the tunnels that are to be configured and brought up. */
  fresh: string[];
  /** `bridge` commands. */
  stations: string[];
  /** `ip` commands: bring up, then add routes, then remove routes. */
  ways: string[];
  /** `bridge` commands. */
  forgotten: string[];
};

export type WantedTunnels = { tunnels: readonly Tunnel[]; mtu: number };

export function planTunnels(present: PresentTunnels, { tunnels, mtu }: WantedTunnels): TunnelPlan {
  const plan: TunnelPlan = { links: [], fresh: [], stations: [], ways: [], forgotten: [] };
  for (const link of present.links) {
    const wanted = tunnels.find(({ name }) => name === link.name);
    if (wanted) refuseForeign(link, wanted.alias);
    const isGone = !wanted && link.alias.startsWith('gantry:tunnel:');
    if (isGone || (wanted && !isSame(link, wanted)))
      plan.links.push(`link delete dev ${link.name}`);
  }
  for (const tunnel of tunnels) {
    const link = present.links.find(({ name }) => name === tunnel.name);
    const kept = link && isSame(link, tunnel) ? link : null;
    planLink(plan, { tunnel, kept, mtu });
    planWays(plan, { tunnel, present: kept ? present : NOTHING });
  }
  return plan;
}

const NOTHING: PresentTunnels = { links: [], nextHops: [], stations: [], routes: [] };

export function isEmptyPlan(plan: TunnelPlan): boolean {
  return Object.values(plan).every((lines) => lines.length === 0);
}

/** What cannot be changed on a tunnel, or not without an interruption. */
function isSame(link: TunnelLink, { vni, local, mac }: Tunnel): boolean {
  const { port, isLearning } = link;
  const isAsMade = port === VXLAN_PORT && !isLearning;
  return isAsMade && link.vni === vni && link.local === local && link.mac === mac;
}

function planLink(
  plan: TunnelPlan,
  { tunnel, kept, mtu }: { tunnel: Tunnel; kept: TunnelLink | null; mtu: number },
): void {
  const { name, alias, vni, local, mac } = tunnel;
  if (!kept) {
    const kind = `type vxlan id ${vni} local ${local} dstport ${VXLAN_PORT} nolearning`;
    plan.links.push(`link add name ${name} address ${mac} mtu ${mtu} ${kind}`);
  } else if (kept.mtu !== mtu) {
    plan.links.push(`link set dev ${name} mtu ${mtu}`);
  }
  if (kept?.alias !== alias) plan.links.push(`link set dev ${name} alias ${alias}`);
  if (kept?.isUp) return;
  plan.fresh.push(name);
  plan.ways.push(`link set dev ${name} up`);
}

function planWays(
  plan: TunnelPlan,
  { tunnel, present }: { tunnel: Tunnel; present: PresentTunnels },
): void {
  const { name, mark, peers, routes } = tunnel;
  const ofTunnel = (entry: { name: string }) => entry.name === name;
  const isWanted = new Set(routes.map(({ address }) => address));
  const stations = compare({
    present: present.stations.filter(ofTunnel),
    wanted: peers,
    textOf: ({ mac, host }) => `${mac} dev ${name} dst ${host} self`,
  });
  const nextHops = compare({
    present: present.nextHops.filter(ofTunnel),
    wanted: peers,
    textOf: ({ mac, host }) => `${host} lladdr ${mac} dev ${name}`,
  });
  const ways = compare({
    present: present.routes.filter(ofTunnel),
    wanted: routes.map((route) => ({ ...route, table: mark })),
    textOf: ({ address, host, table }) => `${address} via ${host} dev ${name} table ${table}`,
  });
  plan.stations.push(...stations.missing.map((text) => `fdb replace ${text} static`));
  plan.ways.push(
    ...nextHops.missing.map((text) => `neigh replace ${text} nud permanent`),
    ...ways.missing.map((text) => `route replace ${text} onlink`),
    ...ways.excess
      .filter(({ address, table }) => table !== mark || !isWanted.has(address))
      .map(({ text }) => `route delete ${text}`),
    ...nextHops.excess
      .filter(({ host }) => !peers.some((peer) => peer.host === host))
      .map(({ text }) => `neigh delete ${text}`),
  );
  plan.forgotten.push(...stations.excess.map(({ text }) => `fdb delete ${text}`));
}

/** An extra entry whose key is desired with another value is replaced and not deleted. */
function compare<P, W>(lists: {
  present: readonly P[];
  wanted: readonly W[];
  textOf: (entry: P | W) => string;
}) {
  const { present, wanted, textOf } = lists;
  const there = new Set(present.map(textOf));
  const asked = new Set(wanted.map(textOf));
  return {
    missing: [...asked].filter((text) => !there.has(text)),
    excess: present
      .map((entry) => ({ ...entry, text: textOf(entry) }))
      .filter(({ text }) => !asked.has(text)),
  };
}

export function refuseLeft(plan: TunnelPlan): void {
  if (isEmptyPlan(plan)) return;
  const [first] = Object.values(plan).flat();
  const message = `tunnels to other hosts could not be set up: "${first}" did not last`;
  throw new HostFailure('tunnel_not_in_force', message);
}
