import { openLab } from '@gantry/agent/network/testing/lab';
import type { FirewallRule } from '@gantry/agent/spec';
import { insertFirewallRule } from '@gantry/db/queries/networks/firewall-rules';
import { newId } from '@gantry/model/ids';
import { VM } from '../subject.ts';
import { type ChangesOptions, printChanges } from './changes.ts';
import { type NetFleet, startNetFleet, until } from './fleet.ts';
import { NetHost, nowMs, PORTS } from './host.ts';
import { ordinaryRules } from './rules.ts';

/**
 * Measures a change from before the PATCH is sent, through api, database, scheduler and agent, to
 * the first packet that obeys it and the last packet that does not.
 */
export async function measurePatches({ changes, vms, rules, signal }: ChangesOptions) {
  const lab = await openLab();
  let host: NetHost | undefined;
  let fleet: NetFleet | undefined;
  try {
    host = await NetHost.open(lab);
    fleet = await startNetFleet(host.driver);
    const ruleId = await prepare(fleet, { vms, rules, signal });
    await host.startSending();
    const tookMs: number[] = [];
    for (let change = 1; change <= changes; change += 1) {
      const port = PORTS[change % 2] ?? PORTS[0];
      await host.heard();
      const begun = nowMs();
      const body = { destination_ports: [port] };
      await fleet.ask('PATCH', `/vpc/firewall-rules/${ruleId}`, body);
      tookMs.push(await host.untilObeyed(port, { begun, signal }));
      await untilSettled(fleet, signal);
    }
    printChanges(tookMs, { vms, rules });
  } finally {
    host?.stop();
    await fleet?.stop();
    await lab.close();
  }
}

type Wanted = Omit<ChangesOptions, 'changes'>;

/** Returns the id of the rule that is to change. */
async function prepare(fleet: NetFleet, { vms, rules, signal }: Wanted): Promise<string> {
  const { sql, projectId, ask } = fleet;
  await until(signal, 'the host is not known', async () => {
    return (await sql`select from hosts where inventory is not null`).length > 0;
  });
  const { items } = await ask<{ items: { id: string }[] }>('GET', '/vpc/networks');
  const networkId = items[0]?.id ?? '';
  await removeDefaultRules(fleet);
  await sql.begin(async (transaction) => {
    for (const rule of ordinaryRules(rules - 2, networkId)) {
      await insertFirewallRule(transaction, toRow(rule, projectId));
    }
  });
  const body = {
    ...{ vpc_network_id: networkId, action: 'allow', protocols: ['udp'] },
    ...{ sources: [], destinations: [] },
  };
  await ask('POST', '/vpc/firewall-rules', { ...body, name: 'out', direction: 'egress' });
  const changing = {
    ...body,
    name: 'changing',
    direction: 'ingress',
    destination_ports: [PORTS[0]],
  };
  await ask('POST', '/vpc/firewall-rules', changing);
  for (let vm = 0; vm < vms; vm += 1) await ask('POST', '/vms', { ...VM, name: `vm-${vm}` });
  await until(signal, 'the VMs do not run', async () => {
    return (await sql`select from vms where state = 'STATE_RUNNING'`).length === vms;
  });
  await untilSettled(fleet, signal);
  const [row] = await sql<{ id: string }[]>`select id from firewall_rules where name = 'changing'`;
  return row?.id ?? '';
}

/** These rules let the VMs of a network reach each other, whatever the other rules are. */
async function removeDefaultRules({ ask }: NetFleet): Promise<void> {
  const { items } = await ask<{ items: { id: string }[] }>('GET', '/vpc/firewall-rules');
  for (const { id } of items) await ask('DELETE', `/vpc/firewall-rules/${id}`);
}

async function untilSettled({ sql }: NetFleet, signal: AbortSignal): Promise<void> {
  await until(signal, 'operations do not end', async () => {
    return (await sql`select from operations where state = 'IN_PROGRESS'`).length === 0;
  });
}

function toRow(rule: FirewallRule, projectId: string) {
  const endpoints = (cidrs: readonly string[]) => cidrs.map((cidr) => ({ resource_id: '', cidr }));
  return {
    ...{ id: newId(), projectId, vpc_network_id: rule.networkId, name: rule.id, at: new Date() },
    direction: rule.direction === 'DIRECTION_EGRESS' ? ('egress' as const) : ('ingress' as const),
    action: rule.action === 'ACTION_DENY' ? ('deny' as const) : ('allow' as const),
    protocols: rule.protocols as ('tcp' | 'udp' | 'icmp')[],
    ...{ sources: endpoints(rule.sources), destinations: endpoints(rule.destinations) },
    ...{ source_ports: rule.sourcePorts, destination_ports: rule.destinationPorts },
  };
}
