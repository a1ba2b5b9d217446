import { FaultyCloud } from '@gantry/testkit/faults/faulty-cloud';
import type { Client } from '@gantry/testkit/processes/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createVm,
  type History,
  hostsBehind,
  listLost,
  listOrphans,
  liveThroughKnownPart,
  liveThroughLostPart,
  lookAtAll,
  runningDomains,
  succeeds,
} from './history.ts';

/**
 * The primary dies and an asynchronous replica is promoted, which lacks the last commits. The hosts
 * have carried those commits out already.
 */
let cloud: FaultyCloud;
let client: Client;
let history: History;
let before: Awaited<ReturnType<typeof runningDomains>>;
let failedOverMs: number;

beforeAll(async () => {
  cloud = await FaultyCloud.start({
    ...{ replica: true, fleets: ['eu-north-a:a40-8=2'], schedulers: 2 },
    schedulerEnv: { GANTRY_LEASE_TTL_MS: '2000' },
    fleetEnv: {
      ...{ GANTRY_FLEET_BOOT_MS: '20', GANTRY_FLEET_SHUTDOWN_MS: '20' },
      GANTRY_FLEET_ERASE_MS: '20',
    },
  });
  client = await cloud.connect();
  const known = await liveThroughKnownPart(client);
  await cloud.servers.caughtUp();
  cloud.servers.streaming.set({ is: 'hole', direction: 'both' });
  history = await liveThroughLostPart(client, known);
  before = await runningDomains(cloud);
  await cloud.servers.failOver();
  failedOverMs = performance.now();
});
afterAll(() => cloud?.stop());

describe('after a failover that lost commits', () => {
  it('the database lacks the lost part', async () => {
    // The api replies with 503 until it has found the new primary.
    await expect.poll(() => client.stateOf(history.lostVm)).toBe('404');
    await expect.poll(() => client.stateOf(history.vms.deleted)).toMatch(/^STATE_/);
  });

  it('every host accepts specs within 60 s', async () => {
    await expect
      .poll(() => hostsBehind(cloud), { timeout: 60_000 - (performance.now() - failedOverMs) })
      .toEqual([]);
  });

  it('a creation succeeds, and the VM runs on devices that no other VM has', async () => {
    const vmId = await createVm(client, 'after');
    const sights = await lookAtAll(cloud);
    const held = sights.flatMap(({ hostId, domains }) =>
      domains.flatMap(({ devices }) => devices.map(({ address }) => `${hostId} ${address}`)),
    );
    expect(new Set(held).size).toBe(held.length);
    expect((await runningDomains(cloud)).has(vmId)).toBe(true);
  });

  it('a reset that succeeds has reset the guest', async () => {
    const resets = before.get(history.vms.reset)?.resets ?? 0;
    await succeeds(client, 'PATCH', `/vms/${history.vms.reset}`, { action: 'RESET' });
    const now = await runningDomains(cloud);
    expect(now.get(history.vms.reset)?.resets).toBe(resets + 1);
  });

  it('a deletion that succeeds has removed the VM', async () => {
    await succeeds(client, 'DELETE', `/vms/${history.vms['also-kept']}`);
    expect((await runningDomains(cloud)).has(history.vms['also-kept'])).toBe(false);
  });

  it('a firewall rule that was changed is in force', async () => {
    await succeeds(client, 'PATCH', `/vpc/firewall-rules/${history.changedRule}`, {
      destination_ports: ['9443'],
    });
    const rules = (await lookAtAll(cloud)).flatMap((host) => host.rules);
    const ports = rules.flatMap(({ id, destinationPorts }) =>
      id === history.changedRule ? destinationPorts : [],
    );
    expect(new Set(ports)).toEqual(new Set(['9443']));
    expect(rules.map(({ id }) => id)).not.toContain(history.lostRule);
    expect(rules.map(({ id }) => id)).toContain(history.deletedRule);
  });

  it('no VM was destroyed: what ran before runs without interruption', async () => {
    const now = await runningDomains(cloud);
    const untouched = [history.vms.kept, history.lostVm];
    for (const id of untouched) expect(now.get(id)).toEqual(before.get(id));
  });

  it('VMs that only a host has, and VMs that a host lost, are listed', async () => {
    await expect.poll(() => listOrphans(client)).toEqual([history.lostVm]);
    await expect.poll(() => listLost(client)).toEqual([history.vms.deleted]);
    expect(await client.stateOf(history.vms.deleted)).toBe('STATE_ERROR');
  });

  it('a VM whose stop was lost runs again, with its disk', async () => {
    await expect.poll(() => client.stateOf(history.vms.stopped)).toBe('STATE_RUNNING');
    await expect
      .poll(async () => (await runningDomains(cloud)).has(history.vms.stopped))
      .toBe(true);
  });

  it('an orphan that is given back runs on, and its tenant sees it again', async () => {
    const { items } = (await client.admin('GET', '/orphans')).body;
    const reply = await client.admin('POST', `/orphans/${items[0].id}:give-back`);
    expect(reply).toMatchObject({ status: 200 });
    const problem = async () => (await client.admin('GET', '/orphans')).body.items[0]?.problem;
    await expect
      .poll(async () => [await client.stateOf(history.lostVm), await problem()])
      .toEqual(['STATE_RUNNING', undefined]);
    expect((await runningDomains(cloud)).get(history.lostVm)).toEqual(before.get(history.lostVm));
    await succeeds(client, 'DELETE', `/vms/${history.lostVm}`);
    expect((await runningDomains(cloud)).has(history.lostVm)).toBe(false);
  });
});
