import {
  closeStreams,
  openStream,
  recordHeartbeat,
  removeScheduler,
} from '@gantry/db/queries/hosts/host-liveness';
import { newId } from '@gantry/model/ids';
import { fenceHosts } from '@gantry/scheduler/fencing/fence-hosts';
import { markUnreachable } from '@gantry/scheduler/liveness/mark-unreachable';
import { type Cloud, startCloud } from '@gantry/testkit/cloud/start-cloud';
import { type HandDrivenHost, wordOn } from '@gantry/testkit/hosts/hand-driven-host';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let cloud: Cloud;
beforeAll(async () => {
  cloud = await startCloud();
});
afterAll(() => cloud.stop());

const silence = { schedulerMs: 60_000, hostMs: 60_000 };
const steadyMs = Number.POSITIVE_INFINITY;
/** Makes the host's stream end so long ago that the host is unreachable. */
const lose = async (host: HandDrivenHost) => {
  await closeStreams(cloud.sql, [{ hostId: host.id, streamEpoch: host.epoch }]);
  await cloud.sql`update hosts set last_seen_at = now() - interval '2 minutes' where id = ${host.id}`;
  await markUnreachable({ ...cloud, silence, steadyMs });
};
const fence = async (host: HandDrivenHost) => {
  await lose(host);
  await cloud.sql`update hosts set fenced_at = now() where id = ${host.id}`;
  await fenceHosts(cloud);
};
const hostState = async (host: HandDrivenHost) =>
  (await cloud.sql`select state from hosts where id = ${host.id}`)[0]?.['state'];
const intervals = (vmId: string) =>
  cloud.sql`select ended_at from meter_intervals where resource_id = ${vmId} order by started_at, id`;
const events = async (vmId: string) =>
  (await cloud.sql`select type from events where resource_id = ${vmId} order by id`).map(
    ({ type }) => type,
  );
const claims = async (vmId: string) =>
  (await cloud.sql`select from device_claims where vm_id = ${vmId}`).length;

describe('a host without a connection', () => {
  it('makes its VMs UNREACHABLE, keeps their claims, stops their metering, and restores both when it is back', async () => {
    const host = await cloud.addHandDrivenHost();
    const running = await cloud.runVm(host);
    const crashed = await cloud.runVm(host);
    await host.say(crashed, { state: 'VM_OBSERVED_STATE_CRASHED' });
    await lose(host);
    expect(await hostState(host)).toBe('unreachable');
    expect(await cloud.vmState(running)).toBe('STATE_UNREACHABLE');
    expect(await cloud.vmState(crashed)).toBe('STATE_UNREACHABLE');
    expect(await claims(running)).toBe(2);
    expect(await intervals(running)).toMatchObject([{ ended_at: expect.any(Date) }]);
    await markUnreachable({ ...cloud, silence, steadyMs });
    await host.attachAgain();
    const report = await host.done();
    wordOn(report, crashed).state = 'VM_OBSERVED_STATE_CRASHED';
    await host.report(report);
    expect(await hostState(host)).toBe('ready');
    expect(await cloud.vmState(running)).toBe('STATE_RUNNING');
    expect(await cloud.vmState(crashed)).toBe('STATE_CRASHED');
    expect(await events(running)).toEqual(['vm_unreachable', 'vm_reachable']);
    expect(await intervals(running)).toMatchObject([
      { ended_at: expect.any(Date) },
      { ended_at: null },
    ]);
  });

  it('charges the silence before it was unreachable only if the VM is proven to have run', async () => {
    const host = await cloud.addHandDrivenHost();
    const [alive, crashed, again] = [
      await cloud.runVm(host),
      await cloud.runVm(host),
      await cloud.runVm(host),
    ];
    await cloud.sql`update meter_intervals set started_at = now() - interval '1 hour' where ended_at is null`;
    await lose(host);
    const charged = async (vmId: string) =>
      (
        await cloud.sql`select round(extract(epoch from ended_at - started_at) / 60)::int as minutes
        from meter_intervals where resource_id = ${vmId} and ended_at is not null`
      ).map(({ minutes }) => minutes);
    for (const vmId of [alive, crashed, again]) expect(await charged(vmId)).toEqual([58]);
    await host.attachAgain();
    await host.obey((report) => {
      for (const vmId of [crashed, again]) wordOn(report, vmId).state = 'VM_OBSERVED_STATE_CRASHED';
    });
    await cloud.request('PATCH', `/vms/${again}`, { action: 'START' });
    await host.obey((report) => {
      wordOn(report, crashed).state = 'VM_OBSERVED_STATE_CRASHED';
    });
    expect(await cloud.vmState(again)).toBe('STATE_RUNNING');
    expect(await charged(alive)).toEqual([60]);
    expect(await charged(crashed)).toEqual([58]);
    expect(await charged(again)).toEqual([58]);
  });

  it('meters a VM again only after a report shows it', async () => {
    const host = await cloud.addHandDrivenHost();
    const vmId = await cloud.runVm(host);
    await lose(host);
    await host.attachAgain();
    await host.say(vmId, { state: 'VM_OBSERVED_STATE_WORKING', revision: '0' });
    expect((await intervals(vmId)).filter(({ ended_at }) => ended_at === null)).toHaveLength(0);
    await host.obey();
    expect((await intervals(vmId)).filter(({ ended_at }) => ended_at === null)).toHaveLength(1);
  });

  it('keeps a DELETE waiting', async () => {
    const host = await cloud.addHandDrivenHost();
    const vmId = await cloud.runVm(host);
    await lose(host);
    const { operationId } = await cloud.request('DELETE', `/vms/${vmId}`);
    await cloud.settleWithoutHost();
    expect(await cloud.vmState(vmId)).toBe('STATE_DELETING');
    await host.attachAgain();
    await host.obey();
    expect(await cloud.vmState(vmId)).toBe('gone');
    expect(await cloud.operation(operationId)).toMatchObject({ state: 'SUCCEEDED' });
  });

  it('stays reachable while a scheduler holds its stream, or after it has come back', async () => {
    const host = await cloud.addHandDrivenHost();
    await cloud.sql`update hosts set last_seen_at = now() - interval '1 day' where id = ${host.id}`;
    await markUnreachable({ ...cloud, silence, steadyMs });
    expect(await hostState(host)).toBe('ready');
    const { epoch } = host;
    await host.attachAgain();
    await closeStreams(cloud.sql, [{ hostId: host.id, streamEpoch: epoch }]);
    await markUnreachable({ ...cloud, silence, steadyMs });
    expect(await hostState(host)).toBe('ready');
  });
});

describe('a scheduler', () => {
  it('that stops renewing its lease loses its hosts, whose last contact is its own', async () => {
    const host = await cloud.addHandDrivenHost();
    await cloud.sql`update schedulers set last_seen_at = now() - interval '61 seconds' where id = ${host.schedulerId}`;
    await markUnreachable({ ...cloud, silence, steadyMs });
    expect(await hostState(host)).toBe('unreachable');
    const { schedulerId } = host;
    expect(await recordHeartbeat(cloud.sql, { schedulerId, address: '' })).toBe(true);
    expect(await recordHeartbeat(cloud.sql, { schedulerId, address: '' })).toBe(false);
    const other = newId();
    await recordHeartbeat(cloud.sql, { schedulerId: other, address: '' });
    host.epoch = (await openStream(cloud.sql, { hostId: host.id, schedulerId: other })) ?? '';
    await host.obey();
    expect(await hostState(host)).toBe('ready');
  });

  it('that stops ends its own streams and no others', async () => {
    const [one, two] = [await cloud.addHandDrivenHost(), await cloud.addHandDrivenHost()];
    await removeScheduler(cloud.sql, one.schedulerId);
    expect(
      await cloud.sql`select id from hosts where scheduler_id is null and id = any(${[one.id, two.id]}::uuid[])`,
    ).toMatchObject([{ id: one.id }]);
  });
});

describe('an outage of the database', () => {
  it('makes no scheduler dead and no host unreachable, and no tenant is told of it or pays less', async () => {
    const [attached, detached] = [await cloud.addHandDrivenHost(), await cloud.addHandDrivenHost()];
    const vmIds = [await cloud.runVm(attached), await cloud.runVm(detached)];
    await closeStreams(cloud.sql, [{ hostId: detached.id, streamEpoch: detached.epoch }]);
    // Nothing was written for two minutes.
    await cloud.sql`update schedulers set last_seen_at = last_seen_at - interval '2 minutes'`;
    await cloud.sql`update hosts set last_seen_at = last_seen_at - interval '2 minutes'`;

    await markUnreachable({ ...cloud, silence, steadyMs: 59_000 });

    for (const host of [attached, detached]) expect(await hostState(host)).toBe('ready');
    expect(await cloud.sql`select from schedulers where id = ${attached.schedulerId}`).toHaveLength(
      1,
    );
    for (const vmId of vmIds) {
      expect(await cloud.vmState(vmId)).toBe('STATE_RUNNING');
      expect(await events(vmId)).toEqual([]);
      expect(await intervals(vmId)).toEqual([{ ended_at: null }]);
    }
  });
});

describe('a fenced host', () => {
  it('has no claims, and its VMs can start elsewhere', async () => {
    const host = await cloud.addHandDrivenHost({ sharedStorage: true });
    const heir = await cloud.addHandDrivenHost({ sharedStorage: true });
    const vmId = await cloud.runVm(host);
    await lose(host);
    expect(await claims(vmId)).toBe(2);
    await fence(host);
    expect(await claims(vmId)).toBe(0);
    expect(await hostState(host)).toBe('fenced');
    expect(await cloud.vmState(vmId)).toBe('STATE_CRASHED');
    expect(await events(vmId)).toContain('vm_host_fenced');
    const { operationId } = await cloud.request('PATCH', `/vms/${vmId}`, { action: 'START' });
    await cloud.place(vmId, heir);
    await heir.obey();
    expect(await cloud.operation(operationId)).toMatchObject({ state: 'SUCCEEDED' });
    expect(await host.report(await host.done())).toBe(false);
    expect(await openStream(cloud.sql, { hostId: host.id, schedulerId: newId() })).toBeUndefined();
  });

  it('has exactly the devices of its VMs quarantined, because they were not cleaned', async () => {
    const host = await cloud.addHandDrivenHost({ gpus: 2 });
    const vmId = await cloud.runVm(host);
    const claimed =
      await cloud.sql`select device_id as id from device_claims where vm_id = ${vmId}`;
    await cloud.sql`update devices set serial = ${vmId} where kind = 'drive' and id = any(${claimed.map(({ id }) => id)}::uuid[])`;
    await fence(host);
    const devices =
      await cloud.sql`select id, state, state_reason from devices where host_id = ${host.id}`;
    const unclean = devices.filter(({ state }) => state === 'quarantined');
    const idsOf = (rows: readonly Record<string, string>[]) => rows.map(({ id }) => id).sort();
    expect(idsOf(unclean)).toEqual(idsOf(claimed));
    expect(unclean[0]?.['state_reason']).toContain(
      'declared the host dead while a VM had the device',
    );
    expect(devices.filter(({ state }) => state === 'ready')).toHaveLength(2);
    // The drive is identified by its serial number on every host, even if its first host was
    // removed.
    expect(
      await cloud.sql`select kind, method, serial, failure_code from device_receipts
        where vm_id = ${vmId} order by kind`,
    ).toMatchObject([
      { kind: 'drive', method: 'none', serial: vmId, failure_code: 'host_fenced' },
      { kind: 'gpu', method: 'none', serial: '', failure_code: 'host_fenced' },
    ]);
  });

  it('fails a creation, and the VM is removed', async () => {
    const host = await cloud.addHandDrivenHost();
    const { id, operationId } = await cloud.createVm();
    await cloud.place(id, host);
    await fence(host);
    await cloud.settleWithoutHost();
    expect(await cloud.operation(operationId)).toMatchObject({
      ...{ state: 'FAILED', result: { code: 'host_failed' } },
    });
    expect(await cloud.vmState(id)).toBe('gone');
  });

  it('ends other operations: a STOP leaves a stopped VM, a DELETE removes it, disks keep their attachments', async () => {
    const host = await cloud.addHandDrivenHost();
    const stopping = await cloud.runVm(host);
    const deleting = await cloud.runVm(host);
    const attaching = await cloud.runVm(host);
    const diskId = await cloud.createDisk();
    await cloud.request('PATCH', `/vms/${stopping}`, { action: 'STOP' });
    const deletion = await cloud.request('DELETE', `/vms/${deleting}`);
    const attachment = await cloud.request('POST', `/vms/${attaching}/attach-disks`, {
      attach_disks: [{ disk_id: diskId, mode: 'read-write', attachment_type: 'data' }],
    });
    await fence(host);
    await cloud.settleWithoutHost();
    expect(await cloud.vmState(stopping)).toBe('STATE_SHUTOFF');
    expect(await cloud.vmState(deleting)).toBe('gone');
    expect(await cloud.operation(deletion.operationId)).toMatchObject({ state: 'SUCCEEDED' });
    expect(await cloud.operation(attachment.operationId)).toMatchObject({ state: 'FAILED' });
    expect(await cloud.sql`select from disk_attachments where disk_id = ${diskId}`).toHaveLength(0);
  });

  it('leaves its disks on shared storage to another host, which removes deleted ones', async () => {
    await cloud.sql`update hosts set shared_storage = false`;
    const host = await cloud.addHandDrivenHost({ sharedStorage: true });
    const heir = await cloud.addHandDrivenHost({ sharedStorage: true });
    const vmId = await cloud.runVm(host);
    await fence(host);
    const { operationId } = await cloud.request('DELETE', `/vms/${vmId}`);
    await cloud.settleWithoutHost();
    expect(await cloud.vmState(vmId)).toBe('STATE_DELETING');
    const [disk] = await cloud.sql`select d.id, d.host_id from disks d
      join disk_attachments a on a.disk_id = d.id where a.vm_id = ${vmId}`;
    expect(disk?.['host_id']).toBe(heir.id);
    expect((await heir.spec()).deletedDisks).toContain(disk?.['id']);
    await heir.obey();
    await cloud.settleWithoutHost();
    expect(await cloud.operation(operationId)).toMatchObject({ state: 'SUCCEEDED' });
  });
});
