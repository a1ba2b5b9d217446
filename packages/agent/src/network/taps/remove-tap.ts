import { tapOfShaper } from '../bandwidth/shapers.ts';
import { batch } from '../kernel/link-commands.ts';
import { findBridges, findTaps, type Link, type OurTap } from '../kernel/links.ts';
import { removeRoutingRules } from '../kernel/routing-rules.ts';
import type { RunCommand } from '../kernel/run-command.ts';

/** Removes the taps of a VM except those in `kept`. Returns the links that remain. */
export async function removeTapsOf(
  run: RunCommand,
  vmId: string,
  { links, kept }: { links: readonly Link[]; kept: ReadonlySet<string> },
): Promise<Link[]> {
  const unwanted = findTaps(links).filter((tap) => tap.vmId === vmId && !kept.has(tap.name));
  for (const tap of unwanted) await removeTap(run, tap, links);
  return links.filter(({ name }) => unwanted.every((tap) => tap.name !== name));
}

/** The tap is removed last, because an interrupted removal is found by the tap and completed. */
export async function removeTap(run: RunCommand, tap: OurTap, links: readonly Link[]) {
  await forgetAddress(run, tap, links);
  const shapers = links.filter((link) => tapOfShaper(link) === tap.name);
  const unwanted = [...shapers.map(({ name }) => name), tap.name];
  await batch(
    run,
    'ip',
    unwanted.map((name) => `link delete dev ${name}`),
  );
}

export async function forgetAddress(run: RunCommand, tap: OurTap, links: readonly Link[]) {
  const bridge = findBridges(links).find(({ name }) => name === tap.bridge);
  if (!bridge) return;
  const { name, mark } = bridge;
  await run('ip', ['neigh', 'flush', 'dev', name, 'to', tap.address, 'nud', 'permanent']);
  // Does not remove the route to another host, where the address may be by now.
  await flushRoutes(run, mark, ['exact', `${tap.address}/32`, 'dev', name]);
}

/**
 * Removes bridges without taps. The bridge is removed last of everything in its network. Routes to
 * other hosts stay, because they belong to the tunnel and a guest may be about to start.
 */
export async function removeUnusedBridges(
  run: RunCommand,
  links: readonly Link[],
  /** Absent: all of them. */
  among?: ReadonlySet<string>,
) {
  const bridges = findBridges(links);
  const unused = bridges.filter(({ name, isUsed }) => !isUsed && (among?.has(name) ?? true));
  const isLast = unused.length === bridges.length;
  for (const { name, mark } of unused) {
    await removeRoutingRules(run, { mark, isLast });
    // Routes through the bridge are removed with it.
    await flushRoutes(run, mark, ['type', 'unreachable']);
    await run('ip', ['link', 'delete', 'dev', name]);
  }
}

/** A table exists only while it has routes, and flushing a missing table is an error. */
async function flushRoutes(run: RunCommand, mark: number, which: readonly string[]) {
  const listed = await run('ip', ['-json', 'route', 'show', 'table', 'all']);
  const routes = JSON.parse(listed || '[]') as { table?: string }[];
  if (!routes.some(({ table }) => table === `${mark}`)) return;
  await run('ip', ['route', 'flush', 'table', `${mark}`, ...which]);
}
