import type { HostSight } from '@gantry/simulator/fleet/host-sight';
import type { FaultyCloud } from '@gantry/testkit/faults/faulty-cloud';
import type { Client } from '@gantry/testkit/processes/client';
import type { Fleet } from '@gantry/testkit/processes/start-processes';
import { expect } from 'vitest';

/**
 * What tenants did before the database lost a part of its history, and in the part that is lost. The
 * hosts carried out both parts.
 */
export type History = {
  /** By name: the VMs that the database still knows. */
  vms: Record<(typeof KEPT)[number], string>;
  /** Created in the lost part. */
  lostVm: string;
  lostDisk: string;
  /** Grown in the lost part. */
  grownDisk: string;
  /** Deleted in the lost part. No VM had it. */
  deletedDisk: string;
  lostRule: string;
  changedRule: string;
  deletedRule: string;
};

const KEPT = ['kept', 'also-kept', 'deleted', 'reset', 'stopped'] as const;

export async function liveThroughKnownPart(client: Client) {
  const vms = await Promise.all(KEPT.map(async (name) => [name, await createVm(client, name)]));
  const ids = Object.fromEntries(vms) as History['vms'];
  const grownDisk = await attachNewDisk(client, { vmId: ids['also-kept'], name: 'grown' });
  const deletedDisk = await attachNewDisk(client, { vmId: ids.kept, name: 'deleted' });
  await succeeds(client, 'POST', `/vms/${ids.kept}/detach-disks`, { detach_disks: [deletedDisk] });
  const changedRule = await createRule(client, 'changed');
  const deletedRule = await createRule(client, 'deleted');
  return { vms: ids, grownDisk, deletedDisk, changedRule, deletedRule };
}

export async function liveThroughLostPart(
  client: Client,
  known: Awaited<ReturnType<typeof liveThroughKnownPart>>,
): Promise<History> {
  const { vms, grownDisk, changedRule, deletedRule } = known;
  const lostVm = await createVm(client, 'lost');
  await succeeds(client, 'DELETE', `/vms/${vms.deleted}`);
  await succeeds(client, 'PATCH', `/vms/${vms.reset}`, { action: 'RESET' });
  await succeeds(client, 'PATCH', `/vms/${vms.stopped}`, { action: 'STOP' });
  await succeeds(client, 'PATCH', `/vms/${vms.kept}`, { action: 'UPDATE', name: 'renamed' });
  const lostDisk = await attachNewDisk(client, { vmId: vms.kept, name: 'lost' });
  await succeeds(client, 'PATCH', `/disks/${grownDisk}`, { size: '20GiB' });
  await succeeds(client, 'DELETE', `/disks/${known.deletedDisk}`);
  const lostRule = await createRule(client, 'lost');
  await succeeds(client, 'PATCH', `/vpc/firewall-rules/${changedRule}`, {
    destination_ports: ['8443'],
  });
  await succeeds(client, 'DELETE', `/vpc/firewall-rules/${deletedRule}`);
  return { ...known, lostVm, lostDisk, lostRule };
}

export async function createVm(client: Client, name: string): Promise<string> {
  const ended = await client.ended(await client.createVm({ name }));
  expect(ended, name).toMatchObject({ state: 'SUCCEEDED' });
  return ended.metadata.id;
}

async function attachNewDisk(
  client: Client,
  { vmId, name }: { vmId: string; name: string },
): Promise<string> {
  const diskId = await succeeds(client, 'POST', '/disks', {
    ...{ name, size: '10GiB', location: 'eu-north-a' },
  });
  const disk = { disk_id: diskId, mode: 'read-write', attachment_type: 'data' };
  await succeeds(client, 'POST', `/vms/${vmId}/attach-disks`, { attach_disks: [disk] });
  return diskId;
}

async function createRule(client: Client, name: string): Promise<string> {
  const { items } = (await client.call('GET', '/vpc/networks')).body;
  return await succeeds(client, 'POST', '/vpc/firewall-rules', {
    ...{ name, vpc_network_id: items[0].id, direction: 'ingress', action: 'allow' },
    ...{ protocols: ['tcp'], destination_ports: ['443'], sources: [{}], destinations: [{}] },
  });
}

/** Returns the resource of an operation that succeeds. */
export async function succeeds(client: Client, method: string, path: string, body?: object) {
  const ended = await client.ended(await client.open(method, path, body));
  expect(ended, `${method} ${path}`).toMatchObject({ state: 'SUCCEEDED' });
  return ended.metadata.id as string;
}

/** Clouds with and without fault proxies. */
type FleetsOf = { fleets: readonly { process: Pick<Fleet, 'sights'> }[] };

export async function lookAtAll(cloud: FleetsOf): Promise<HostSight[]> {
  return (await Promise.all(cloud.fleets.map(({ process }) => process.sights()))).flat();
}

/** The running domains with how often each was started and reset. */
export async function runningDomains(cloud: FleetsOf) {
  const domains = (await lookAtAll(cloud)).flatMap(({ domains }) => domains);
  return new Map(
    domains
      .filter(({ state }) => state === 'running')
      .map(({ vmId, starts, resets }) => [vmId, { starts, resets }]),
  );
}

/** Hosts that have not accepted the spec that the database has for them now. */
export async function hostsBehind({ sql }: Pick<FaultyCloud, 'sql'>): Promise<string[]> {
  const rows = await sql<{ name: string; refusal: string }[]>`
    select h.name, h.refusal from hosts h join host_revisions r on r.host_id = h.id
    where h.accepted_number <> r.number or h.refusal <> '' or r.number < (select era from installation) * 1000`;
  return rows.map(({ name, refusal }) => `${name}: ${refusal}`);
}

/** The VMs that run on a host and are not in the database, as operators see them. */
export async function listOrphans(client: Client): Promise<string[]> {
  const { items } = (await client.admin('GET', '/orphans')).body;
  return items.map(({ vm_id }: { vm_id: string }) => vm_id);
}

/** The VMs of which tenants were told that their host lost them. */
export async function listLost(client: Client): Promise<string[]> {
  const { items } = (await client.call('GET', '/events?type=vm_lost')).body;
  return items.map(({ resource_id }: { resource_id: string }) => resource_id);
}
