import { allSettledOrThrow } from '@gantry/daemon/all-settled-or-throw';
import { batch, withoutIpv6 } from '../kernel/link-commands.ts';
import type { RunCommand } from '../kernel/run-command.ts';
import { isEmptyPlan, planTunnels, refuseLeft, type WantedTunnels } from './plan-tunnels.ts';
import { type PresentTunnels, readTunnels } from './present-tunnels.ts';

/**
 * Tunnels in the kernel, which holds all their state. A tunnel whose creation was interrupted is
 * not up; one whose routes were being changed differs from the desired state; applying again
 * completes both. Returns after it has verified the result.
 */
export async function applyTunnels(
  run: RunCommand,
  { present, wanted }: { present: PresentTunnels; wanted: WantedTunnels },
): Promise<void> {
  const plan = planTunnels(present, wanted);
  if (isEmptyPlan(plan)) return;
  await batch(run, 'ip', plan.links);
  await allSettledOrThrow([
    setUp(run, plan.fresh),
    withoutIpv6(run, plan.fresh),
    batch(run, 'bridge', plan.stations),
  ]);
  await batch(run, 'ip', plan.ways);
  await batch(run, 'bridge', plan.forgotten);
  refuseLeft(planTunnels(await readTunnels(run), wanted));
}

export async function areTunnelsInForce(run: RunCommand, wanted: WantedTunnels): Promise<boolean> {
  return isEmptyPlan(planTunnels(await readTunnels(run), wanted));
}

const SETTINGS = {
  forwarding: 1,
  send_redirects: 0,
  accept_redirects: 0,
  // Sources are checked before a packet leaves a tunnel; a host that checks all sources uses the
  // mark.
  rp_filter: 0,
  src_valid_mark: 1,
};

async function setUp(run: RunCommand, names: readonly string[]): Promise<void> {
  const lines = names.flatMap((name) =>
    Object.entries(SETTINGS).map(([key, value]) => `net.ipv4.conf.${name}.${key}=${value}`),
  );
  if (lines.length > 0) await run('sysctl', ['-qw', ...lines]);
}
