import { allSettledOrThrow } from '@gantry/daemon/all-settled-or-throw';
import { batch, withoutIpv6 } from '../kernel/link-commands.ts';
import { findTaps, type Link } from '../kernel/links.ts';
import { planRoutingRules } from '../kernel/routing-rules.ts';
import type { RunCommand } from '../kernel/run-command.ts';
import type { Nic } from '../parse-interface.ts';
import { type BridgeSettings, planBridge } from './plan-bridge.ts';
import { planTap } from './plan-tap.ts';
import { forgetAddress } from './remove-tap.ts';

type NicOrder = { vmId: string; nic: Nic; links: readonly Link[]; settings: BridgeSettings };

/**
 * Creates one interface of a VM: its network's bridge and its tap, configured and then brought up.
 * Starting a program takes longer than its work, so commands share one if possible, and independent
 * commands run concurrently.
 */
export async function ensureNic(run: RunCommand, { vmId, nic, links, settings }: NicOrder) {
  const { tap, bridge, mark } = nic;
  const { mtu, reachableFromHost } = settings;
  const bridgePlan = planBridge(nic, { links, settings });
  const tapPlan = planTap(nic, { vmId, links, mtu });
  const before = findTaps(links).find(({ name }) => name === tap);
  if (before && (before.address !== nic.address || before.bridge !== bridge)) {
    await forgetAddress(run, before, links);
  }
  await batch(run, 'ip', [...bridgePlan.made, ...tapPlan.made]);
  const [missingRules] = await allSettledOrThrow([
    planRoutingRules(run, { mark, reachableFromHost }),
    run('sysctl', ['-qw', ...bridgePlan.kernel]),
    withoutIpv6(run, [bridge, tap]),
    batch(run, 'bridge', tapPlan.port),
  ]);
  await batch(run, 'ip', [...missingRules, ...bridgePlan.up, ...tapPlan.up]);
}
