import { allSettledOrThrow } from '@gantry/daemon/all-settled-or-throw';
import { TUNNEL_PREFIX } from '../kernel/names.ts';
import type { RunCommand } from '../kernel/run-command.ts';

/** The agent's tunnels as the kernel lists them, recognised by name, and the routes into them. */
export type TunnelLink = {
  name: string;
  alias: string;
  mac: string;
  mtu: number;
  isUp: boolean;
  vni: number;
  local: string;
  port: number;
  isLearning: boolean;
};
export type PresentTunnels = {
  links: readonly TunnelLink[];
  /** The hardware address of each next hop. */
  nextHops: readonly { name: string; host: string; mac: string }[];
  /** The host of each hardware address. */
  stations: readonly { name: string; mac: string; host: string }[];
  routes: readonly { name: string; table: number; address: string; host: string }[];
};

export async function readTunnels(run: RunCommand): Promise<PresentTunnels> {
  const links = parseTunnelLinks(
    await run('ip', ['-json', '-details', 'link', 'show', 'type', 'vxlan']),
  );
  if (links.length === 0) return { links, nextHops: [], stations: [], routes: [] };
  const [neighbours, stations, routes] = await allSettledOrThrow([
    run('ip', ['-4', '-json', 'neigh', 'show', 'nud', 'permanent']),
    run('bridge', ['-json', 'fdb', 'show']),
    run('ip', ['-4', '-json', 'route', 'show', 'table', 'all']),
  ]);
  const isOurs = ({ name }: { name: string }) => links.some((link) => link.name === name);
  return {
    links,
    nextHops: parseNextHops(neighbours).filter(isOurs),
    stations: parseStations(stations).filter(isOurs),
    routes: parseRoutes(routes).filter(isOurs),
  };
}

type LinkListing = {
  ifname?: string;
  ifalias?: string;
  address?: string;
  mtu?: number;
  flags?: string[];
  linkinfo?: { info_data?: { id?: number; local?: string; port?: number; learning?: boolean } };
}[];

/** When it filters, `ip` lists an empty object for each omitted entry. */
export function parseTunnelLinks(json: string): TunnelLink[] {
  return (JSON.parse(json || '[]') as LinkListing).flatMap(({ ifname = '', ...link }) => {
    if (!ifname.startsWith(TUNNEL_PREFIX)) return [];
    const { id = 0, local = '', port = 0, learning = false } = link.linkinfo?.info_data ?? {};
    return [
      {
        ...{ name: ifname, alias: link.ifalias ?? '', mac: link.address ?? '', mtu: link.mtu ?? 0 },
        ...{ isUp: link.flags?.includes('UP') ?? false, isLearning: learning },
        ...{ vni: id, local, port },
      },
    ];
  });
}

function parseNextHops(json: string): PresentTunnels['nextHops'] {
  const listing = JSON.parse(json || '[]') as { dst: string; dev: string; lladdr?: string }[];
  return listing.map(({ dst, dev, lladdr = '' }) => ({ name: dev, host: dst, mac: lladdr }));
}

function parseStations(json: string): PresentTunnels['stations'] {
  const listing = JSON.parse(json || '[]') as { mac: string; ifname?: string; dst?: string }[];
  return listing.flatMap(({ mac, ifname, dst }) =>
    ifname === undefined || dst === undefined ? [] : [{ name: ifname, mac, host: dst }],
  );
}

function parseRoutes(json: string): PresentTunnels['routes'] {
  type Listing = { dst: string; gateway?: string; dev?: string; table?: string }[];
  return (JSON.parse(json || '[]') as Listing).flatMap(({ dst, gateway = '', dev, table }) =>
    dev === undefined
      ? []
      : [{ name: dev, table: Number(table ?? 254), address: dst, host: gateway }],
  );
}
