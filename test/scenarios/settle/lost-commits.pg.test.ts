import { readDifferences } from '@gantry/db/queries/maintenance/differences';
import { beginEra, ensureEra } from '@gantry/db/queries/maintenance/era';
import { listSilentPlacementHosts } from '@gantry/db/queries/placement/placement-hosts';
import { newId } from '@gantry/model/ids';
import type { HostReport } from '@gantry/scheduler/attached/host-report';
import { type Cloud, startCloud } from '@gantry/testkit/cloud/start-cloud';
import { type HandDrivenHost, wordOn } from '@gantry/testkit/hosts/hand-driven-host';
import { LOCATION } from '@gantry/testkit/make/request-bodies';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

/**
 * The database is behind its hosts, as after a restored backup or a failover that lost commits. Reports
 * contain what hosts did for the lost commits.
 */
let cloud: Cloud;
let host: HandDrivenHost;
beforeAll(async () => {
  cloud = await startCloud();
});
afterAll(() => cloud.stop());
beforeEach(async () => {
  host = await cloud.addHandDrivenHost();
});

const admin = (method: string, path: string) =>
  cloud.api.call(method, `/admin/${path}`, { bearer: cloud.operator });
const orphansOfHost = async () => (await admin('GET', `orphans?host_id=${host.id}`)).body.items;
const eventsOf = async (vmId: string) =>
  (await cloud.sql`select type from events where resource_id = ${vmId} order by id`).map(
    ({ type }) => type,
  );

/** Gives the database another history, as a promotion does. */
async function promote(): Promise<void> {
  await cloud.sql`update installation set history = 'of the primary that was lost'`;
}

describe('the generation of a VM that was reset in a lost commit', () => {
  it('becomes the generation of its host, and the VM is not reset', async () => {
    const id = await cloud.runVm(host);
    await host.say(id, { generation: '9', revision: '30' });
    expect(await cloud.vmState(id)).toBe('STATE_RUNNING');
    expect((await host.spec()).vms?.[0]).toMatchObject({ id, generation: 9 });
    await host.obey();
    expect(await cloud.vmState(id)).toBe('STATE_RUNNING');
  });

  it('is passed by an unfinished RESET, which then succeeds', async () => {
    const id = await cloud.runVm(host);
    const { operationId } = await cloud.request('PATCH', `/vms/${id}`, { action: 'RESET' });
    await host.say(id, { generation: '9' });
    expect(await cloud.operation(operationId)).toMatchObject({ state: 'IN_PROGRESS' });
    expect((await host.spec()).vms?.[0]).toMatchObject({ id, generation: 10 });
    await host.obey();
    expect(await cloud.operation(operationId)).toMatchObject({ state: 'SUCCEEDED' });
  });

  it('is ignored if no scheduler can have issued it', async () => {
    const id = await cloud.runVm(host);
    await host.say(id, { generation: '18446744073709551615' });
    expect((await host.spec()).vms?.[0]).toMatchObject({ id, generation: 1 });
  });
});

describe('a new history', () => {
  it('makes reports meaningless until a new era has begun', async () => {
    const id = await cloud.runVm(host);
    await cloud.request('PATCH', `/vms/${id}`, { action: 'STOP' });
    const report = await host.done();
    await promote();
    expect(await host.report(report)).toBe(false);
    expect(await cloud.vmState(id)).toBe('STATE_STOPPING');
    expect((await ensureEra(cloud.sql)).hasBegun).toBe(true);
    expect(await host.report(report)).toBe(true);
    expect(await cloud.vmState(id)).toBe('STATE_SHUTOFF');
  });

  it('keeps new VMs from a host until it has reported what it has in the new era', async () => {
    const withheld = async () =>
      await listSilentPlacementHosts(cloud.sql, { location: LOCATION, schedulerSilentMs: 1e9 });
    await host.obey();
    expect(await withheld()).not.toContain(host.id);
    await promote();
    await ensureEra(cloud.sql);
    expect(await withheld()).toContain(host.id);
    await host.report(await host.done(), { isAccepted: false });
    expect(await withheld()).toContain(host.id);
    await host.obey();
    expect(await withheld()).not.toContain(host.id);
  });

  it('makes a rule wait for a spec of the new era, whatever the host confirmed before', async () => {
    await cloud.runVm(host);
    await cloud.request('POST', '/vpc/firewall-rules', {
      ...{ name: 'web', direction: 'ingress', action: 'allow', protocols: ['tcp'] },
      ...{ vpc_network_id: await defaultNetwork(), destination_ports: ['443'] },
      ...{ sources: [], destinations: [] },
    });
    const unconfirmed = async () =>
      (await cloud.sql`select from firewall_rule_hosts where host_id = ${host.id}`).length;
    const before = await host.done();
    await promote();
    await ensureEra(cloud.sql);
    await host.report({ ...before, firewallNumber: String(Number(before.firewallNumber) + 50) });
    expect(await unconfirmed()).toBe(1);
    await host.obey();
    expect(await unconfirmed()).toBe(0);
  });
});

const defaultNetwork = async () =>
  (
    await cloud.sql`select id from networks where project_id = ${cloud.tenant.projectId} and is_default`
  )[0]?.['id'];

/** Returns a report with a VM that only the host knows. It has the last GPU of the host. */
async function reportWithOrphan(
  change: object = {},
): Promise<{ vmId: string; report: HostReport }> {
  await cloud.runVm(host);
  const [gpu] =
    await cloud.sql`select pci_address from devices where host_id = ${host.id} and kind = 'gpu'
    order by pci_address desc limit 1`;
  const report = await host.done();
  const [like] = (await host.spec()).vms ?? [];
  const vmId = newId();
  const known = {
    ...like,
    ...{ id: vmId, name: `orphan-${vmId}`, revision: '70', generation: '7' },
    devices: [{ kind: 'gpu', address: gpu?.['pci_address'] }],
    disks: like?.disks?.map((disk) => {
      const id = newId();
      return { ...disk, id, sizeBytes: String(disk.sizeBytes), serialNumber: id };
    }),
    interfaces: like?.interfaces?.map((iface) => ({
      ...{
        ...iface,
        id: newId(),
        mac: '02:00:00:00:99:99',
        privateIpv4: iface.privateIpv4?.replace(/\d+\/\d+$/, '199/24'),
      },
    })),
    ...change,
  };
  const [first] = report.vms;
  if (!first) throw new Error('BUG: the host has a VM');
  const state = 'VM_OBSERVED_STATE_UNKNOWN' as const;
  report.vms.push({
    ...first,
    id: vmId,
    state,
    revision: '0',
    generation: '7',
    known: known as never,
  });
  return { vmId, report };
}

describe('a VM that only its host knows', () => {
  it('is adopted as an orphan: its devices and addresses are kept, and its project is told', async () => {
    await promote();
    await ensureEra(cloud.sql);
    const { vmId, report } = await reportWithOrphan();
    await host.report(report);
    await host.report(report);
    expect(await orphansOfHost()).toMatchObject([
      {
        ...{ vm_id: vmId, project_id: cloud.tenant.projectId, decision: '', problem: '' },
        ...{
          device_addresses: [expect.any(String)],
          private_addresses: [expect.stringMatching(/\.199$/)],
        },
      },
    ]);
    expect(await eventsOf(vmId)).toEqual(['vm_orphaned']);
    const [claim] = await cloud.sql`select vm_id from device_claims where orphan_id is not null`;
    expect(claim).toEqual({ vm_id: null });
    expect((await admin('GET', `hosts/${host.id}`)).body.gpus.at(-1)).toMatchObject({
      vm_id: vmId,
    });
    expect((await host.spec()).takeDowns).toEqual([]);
  });

  it('is not adopted from a report that proves nothing', async () => {
    const { report } = await reportWithOrphan();
    await host.report(report, { isAccepted: false });
    expect(await orphansOfHost()).toEqual([]);
  });

  it('runs in its project again after it was given back', async () => {
    const sshKeys = ['ssh-ed25519 BBBB', 'ssh-ed25519 CCCC'];
    const { vmId, report } = await reportWithOrphan({ sshKeys, userData: '#!/bin/sh' });
    await host.report(report);
    const [orphan] = await orphansOfHost();
    expect((await admin('POST', `orphans/${orphan.id}:give-back`)).status).toBe(200);
    await host.report(report);
    expect(await orphansOfHost()).toEqual([]);
    const { vms } = await host.spec();
    expect(vms?.find(({ id }) => id === vmId)).toMatchObject({
      generation: 7,
      sshKeys,
      userData: '#!/bin/sh',
    });
    await host.obey();
    const { body } = await cloud.call('GET', `/vms/${vmId}`);
    expect(body).toMatchObject({ state: 'STATE_RUNNING', name: `orphan-${vmId}` });
    expect(body.network_interfaces).toMatchObject([
      { ips: [{ private_ipv4: { address: expect.stringMatching(/\.199$/) } }] },
    ]);
    const open =
      await cloud.sql`select from meter_intervals where resource_id = ${vmId} and ended_at is null`;
    expect(open).toHaveLength(1);
    expect(await eventsOf(vmId)).toEqual(['vm_orphaned', 'vm_restored']);
  });

  it('stays an orphan with the reason if it cannot be given back', async () => {
    const { report } = await reportWithOrphan({ projectId: newId() });
    await host.report(report);
    const [orphan] = await orphansOfHost();
    await admin('POST', `orphans/${orphan.id}:give-back`);
    await host.report(report);
    expect(await orphansOfHost()).toMatchObject([
      { decision: '', problem: expect.stringContaining('its project does not exist') },
    ]);
  });

  it('is given back, with its device, after the VM that claims the device is gone', async () => {
    const claimant = await cloud.runVm(host);
    const [gpu] = (await host.spec()).vms?.find(({ id }) => id === claimant)?.devices ?? [];
    const { vmId, report } = await reportWithOrphan({ devices: [gpu], interfaces: [] });
    await host.report(report);
    const [orphan] = await orphansOfHost();
    expect(orphan).toMatchObject({ device_addresses: [] });
    await admin('POST', `orphans/${orphan.id}:give-back`);
    await host.report(report);
    expect(await orphansOfHost()).toMatchObject([
      { decision: '', problem: expect.stringContaining(`claimed by VM ${claimant}`) },
    ]);
    await cloud.request('DELETE', `/vms/${claimant}`);
    const down = await host.done();
    const inUse = { code: 'device_in_use', message: `in use by VM ${vmId}`, sinceMs: '1' };
    for (const receipt of down.receipts) receipt.failure = inUse;
    await host.report({ ...down, vms: [...down.vms, wordOn(report, vmId)] });
    expect(await orphansOfHost()).toMatchObject([{ device_addresses: [gpu?.address] }]);
    await admin('POST', `orphans/${orphan.id}:give-back`);
    await host.report({ ...(await host.done()), vms: report.vms });
    expect((await host.spec()).vms?.find(({ id }) => id === vmId)).toMatchObject({
      devices: [{ address: gpu?.address }],
    });
  });

  it('is gone after a deletion only when its host proves it, with a receipt for each device', async () => {
    const { vmId, report } = await reportWithOrphan();
    await host.report(report);
    const [orphan] = await orphansOfHost();
    await admin('DELETE', `orphans/${orphan.id}`);
    const { takeDowns } = await host.spec();
    expect(takeDowns).toMatchObject([{ id: vmId, disks: orphan.disk_ids }]);
    expect(Number(takeDowns?.[0]?.revision)).toBeGreaterThan(70);
    const done = await host.done();
    await host.report({ ...done, receipts: [] });
    expect(await orphansOfHost()).toHaveLength(1);
    await host.report(done);
    expect(await orphansOfHost()).toEqual([]);
    expect(await cloud.sql`select from device_receipts where vm_id = ${vmId}`).toHaveLength(1);
    expect(wordOn(done, vmId).state).toBe('VM_OBSERVED_STATE_TAKEN_DOWN');
  });

  it('is recorded without what does not have the form of an id or an address', async () => {
    const { vmId, report } = await reportWithOrphan({
      ...{ projectId: 'not-an-id', name: 'null\0byte', generation: '18446744073709551615' },
      interfaces: [{ id: 'x', networkId: 'y', mac: '', privateIpv4: 'z', publicIpv4: 'w' }],
    });
    report.vms.push({ ...wordOn(report, vmId), id: 'not-an-id' });
    await host.report(report);
    expect(await orphansOfHost()).toMatchObject([
      { vm_id: vmId, project_id: '', name: 'nullbyte', private_addresses: [] },
    ]);
  });
});

it('a VM that its host lost is listed among the differences of every later era', async () => {
  const id = await cloud.runVm(host);
  const failure = { code: 'disk_missing', message: 'its disk is gone', sinceMs: '1' };
  await host.say(id, { state: 'VM_OBSERVED_STATE_FAILED', failure });
  // Eras begin in different seconds, so the second one is later than the report.
  await beginEra(cloud.sql, { evenIfCurrent: true });
  const { era } = await beginEra(cloud.sql, { evenIfCurrent: true });
  const { lost } = await readDifferences(cloud.sql, era);
  expect(lost).toContainEqual({
    ...{ vm_id: id, project_id: cloud.tenant.projectId },
    message: expect.stringContaining('its disk is gone'),
  });
});

it('a VM that its host lost is in error, is not billed, and its project is told', async () => {
  const id = await cloud.runVm(host);
  const failure = { code: 'disk_missing', message: 'its disk is gone', sinceMs: '1' };
  await host.say(id, { state: 'VM_OBSERVED_STATE_FAILED', failure });
  expect(await cloud.vmState(id)).toBe('STATE_ERROR');
  expect(await eventsOf(id)).toEqual(['vm_lost']);
  const open =
    await cloud.sql`select from meter_intervals where resource_id = ${id} and ended_at is null`;
  expect(open).toHaveLength(0);
});
