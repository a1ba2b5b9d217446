import { findBridges, type Link, type OurTap } from '../kernel/links.ts';
import { removeRoutingRules } from '../kernel/routing-rules.ts';
import type { RunCommand } from '../kernel/run-command.ts';

/** The tap goes last: as long as it is there, a removal that was cut off is found and completed. */
export async function removeTap(run: RunCommand, tap: OurTap, links: readonly Link[]) {
  await forgetAddress(run, tap, links);
  await run('ip', ['link', 'delete', 'dev', tap.name]);
}

export async function forgetAddress(run: RunCommand, tap: OurTap, links: readonly Link[]) {
  const bridge = findBridges(links).find(({ name }) => name === tap.bridge);
  if (!bridge) return;
  const { name, mark } = bridge;
  await run('ip', ['neigh', 'flush', 'dev', name, 'to', tap.address, 'nud', 'permanent']);
  // Not the way to another host, where the address may be by now.
  await flushRoutes(run, mark, ['exact', `${tap.address}/32`, 'dev', name]);
}

/**
 * Those no tap is in any more. A bridge goes last of what belongs to its network. The ways to other
 * hosts stay: they are the tunnel's, and a guest may be about to come.
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
    // Those by way of the bridge go with it.
    await flushRoutes(run, mark, ['type', 'unreachable']);
    await run('ip', ['link', 'delete', 'dev', name]);
  }
}

/** A table exists while it has routes, and flushing one that does not is an error. */
async function flushRoutes(run: RunCommand, mark: number, which: readonly string[]) {
  const listed = await run('ip', ['-json', 'route', 'show', 'table', 'all']);
  const routes = JSON.parse(listed || '[]') as { table?: string }[];
  if (!routes.some(({ table }) => table === `${mark}`)) return;
  await run('ip', ['route', 'flush', 'table', `${mark}`, ...which]);
}
