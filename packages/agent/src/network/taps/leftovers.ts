import { allSettledOrThrow } from '@gantry/daemon/all-settled-or-throw';
import { INCOMING_PREFIX, OUTGOING_PREFIX } from '../bandwidth/shapers.ts';
import { findBridges, findTaps, type Link, type OurTap, parseLinks } from '../kernel/links.ts';
import { BRIDGE_PREFIX, TAP_PREFIX, TUNNEL_PREFIX } from '../kernel/names.ts';
import { listRoutedNetworks, removeRoutingRules } from '../kernel/routing-rules.ts';
import type { RunCommand } from '../kernel/run-command.ts';
import type { VmInterface } from '../parse-interface.ts';
import { removeTap, removeUnusedBridges } from './remove-tap.ts';

/**
 * What an earlier agent process left behind: interfaces of guests that no spec names, bridges
 * without interfaces, routing of removed networks, and links that were created but not yet given an
 * owner. A tap that a process holds open is not a leftover: its guest runs, no rule lets its
 * packets pass, and it is checked again next time.
 */
export type Leftovers = {
  links: readonly Link[];
  taps: readonly OurTap[];
  /** Links without an alias. */
  unowned: readonly string[];
  bridges: readonly string[];
  /** Marks of networks that have routing and no bridge. */
  networks: readonly number[];
};

/** What must stay and is never a leftover. */
export type Kept = {
  interfaces: readonly VmInterface[];
  tunnels: readonly { name: string; mark: number }[];
};

export async function findLeftovers(run: RunCommand, kept: Kept): Promise<Leftovers> {
  const [listed, routed] = await allSettledOrThrow([
    run('ip', ['-json', '-details', 'link', 'show']),
    listRoutedNetworks(run),
  ]);
  return chooseLeftovers({ listed, routed }, kept);
}

function chooseLeftovers(
  { listed, routed }: { listed: string; routed: readonly number[] },
  { interfaces, tunnels }: Kept,
): Leftovers {
  const links = parseLinks(listed);
  const names = new Set([
    ...interfaces.flatMap(({ tap, bridge }) => [tap, bridge]),
    ...tunnels.map(({ name }) => name),
  ]);
  const details = parseDetails(listed);
  const taps = findTaps(links).filter(
    ({ name }) => !names.has(name) && !details.get(name)?.isHeldOpen,
  );
  const gone = new Set(taps.map(({ name }) => name));
  const present = findBridges(links.filter(({ name }) => !gone.has(name)));
  const bridges = present.filter(({ name, isUsed }) => !isUsed && !names.has(name));
  const marks = new Set([...interfaces, ...tunnels, ...present].map(({ mark }) => mark));
  return {
    ...{ links, taps },
    unowned: links
      .filter((link) => isUnowned(link, details.get(link.name)) && !names.has(link.name))
      .map(({ name }) => name),
    bridges: bridges.map(({ name }) => name),
    networks: routed.filter((mark) => !marks.has(mark)),
  };
}

export function areNone({ taps, unowned, bridges, networks }: Leftovers): boolean {
  return [taps, unowned, bridges, networks].every(({ length }) => length === 0);
}

export async function removeLeftovers(run: RunCommand, leftovers: Leftovers): Promise<void> {
  const { links, taps, unowned, bridges, networks } = leftovers;
  for (const name of unowned) await run('ip', ['link', 'delete', 'dev', name]);
  for (const tap of taps) await removeTap(run, tap, links);
  const gone = new Set([...unowned, ...taps.map(({ name }) => name)]);
  const left = links.filter(({ name }) => !gone.has(name));
  await removeUnusedBridges(run, left, new Set(bridges));
  for (const mark of networks) {
    // The rules are removed last, because they identify the table as the agent's.
    const routes = await run('ip', ['-json', 'route', 'show', 'table', 'all']);
    if (routes.includes(`"${mark}"`)) await run('ip', ['route', 'flush', 'table', `${mark}`]);
    await removeRoutingRules(run, { mark, isLast: false });
  }
}

type Details = { kind: string; isHeldOpen: boolean };
type Listing = { ifname: string; flags?: string[]; linkinfo?: { info_kind?: string } }[];

function parseDetails(json: string): Map<string, Details> {
  return new Map(
    (JSON.parse(json) as Listing).map(({ ifname, flags = [], linkinfo }) => [
      ifname,
      {
        kind: linkinfo?.info_kind ?? '',
        isHeldOpen: flags.includes('LOWER_UP'),
      },
    ]),
  );
}

const KINDS: Record<string, string> = {
  ...{ [TAP_PREFIX]: 'tun', [BRIDGE_PREFIX]: 'bridge', [TUNNEL_PREFIX]: 'vxlan' },
  ...{ [OUTGOING_PREFIX]: 'ifb', [INCOMING_PREFIX]: 'ifb' },
};
const OUR_NAME = new RegExp(`^(${Object.keys(KINDS).join('|')})[0-9a-f]{11}$`);

/**
 * The owner is written right after a link is created, so nothing was done to a link without one.
 */
function isUnowned({ name, alias, master, isUp }: Link, details: Details | undefined): boolean {
  const prefix = OUR_NAME.exec(name)?.[1];
  if (prefix === undefined || alias !== '' || master !== null || !details) return false;
  return details.kind === KINDS[prefix] && !isUp;
}
