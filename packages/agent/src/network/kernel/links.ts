import { HostFailure } from '../../base/failure.ts';
import { BRIDGE_PREFIX, networkNumber, TAP_PREFIX } from './names.ts';
import type { RunCommand } from './run-command.ts';

/** A network interface of the host, with the fields that matter here. */
export type Link = {
  name: string;
  alias: string;
  mac: string;
  master: string | null;
  isUp: boolean;
};

/** A tap that belongs to the agent by name and alias. */
export type OurTap = { name: string; vmId: string; address: string; bridge: string | null };
export type OurBridge = { name: string; mark: number; isUsed: boolean };

export async function listLinks(run: RunCommand): Promise<Link[]> {
  return parseLinks(await run('ip', ['-json', 'link', 'show']));
}

type LinkListing = {
  ifname: string;
  ifalias?: string;
  address?: string;
  master?: string;
  flags?: string[];
}[];

export function parseLinks(json: string): Link[] {
  return (JSON.parse(json) as LinkListing).map((link) => ({
    name: link.ifname,
    alias: link.ifalias ?? '',
    mac: link.address ?? '',
    master: link.master ?? null,
    isUp: link.flags?.includes('UP') ?? false,
  }));
}

export function findTaps(links: readonly Link[]): OurTap[] {
  return links.flatMap(({ name, alias, master }) => {
    const [owner, vmId = '', interfaceId, address = ''] = alias.split(':');
    const isOurs = name.startsWith(TAP_PREFIX) && owner === 'gantry' && interfaceId !== undefined;
    return isOurs ? [{ name, vmId, address, bridge: master }] : [];
  });
}

export function findBridges(links: readonly Link[]): OurBridge[] {
  return links.flatMap(({ name, alias }) => {
    const [owner, kind, networkId] = alias.split(':');
    if (!name.startsWith(BRIDGE_PREFIX) || owner !== 'gantry' || kind !== 'network') return [];
    if (networkId === undefined) return [];
    const isUsed = links.some(({ master }) => master === name);
    return [{ name, mark: networkNumber(networkId), isUsed }];
  });
}

/** A link with such a name and without an alias is the agent's, left by an interrupted start. */
export function refuseForeign(
  found: Pick<Link, 'name' | 'alias'> | undefined,
  alias: string,
): void {
  const owner = alias.split(':').slice(0, 3).join(':');
  if (!found || found.alias === '' || `${found.alias}:`.startsWith(`${owner}:`)) return;
  const message = `interface ${found.name} is there already, as "${found.alias}": rename or remove it`;
  throw new HostFailure('interface_taken', message);
}
