import {
  closeStreams,
  openStream,
  recordHeartbeat,
  removeScheduler,
} from '@gantry/db/queries/hosts/host-liveness';
import { newId } from '@gantry/model/ids';
import { fenceHosts } from '@gantry/scheduler/liveness/fence-hosts';
import { markUnreachable } from '@gantry/scheduler/liveness/mark-unreachable';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ground, startGround } from './ground.ts';
import { type HandHost, wordOn } from './hand-host.ts';

let ground: Ground;
beforeAll(async () => {
  ground = await startGround();
});
afterAll(() => ground.stop());

const silence = { schedulerMs: 60_000, hostMs: 60_000 };
/** The host's stream ended so long ago that it is given up. */
const lose = async (host: HandHost) => {
  await closeStreams(ground.sql, [{ hostId: host.id, streamEpoch: host.epoch }]);
  await ground.sql`update hosts set last_seen_at = now() - interval '2 minutes' where id = ${host.id}`;
  await markUnreachable({ ...ground, silence });
};
const fence = async (host: HandHost) => {
  await lose(host);
  await ground.sql`update hosts set fenced_at = now() where id = ${host.id}`;
  await fenceHosts(ground);
};
const hostState = async (host: HandHost) =>
  (await ground.sql`select state from hosts where id = ${host.id}`)[0]?.['state'];
const intervals = (vmId: string) =>
  ground.sql`select ended_at from meter_intervals where resource_id = ${vmId} order by started_at, id`;
const events = async (vmId: string) =>
  (await ground.sql`select type from events where resource_id = ${vmId} order by id`).map(
    ({ type }) => type,
  );
const claims = async (vmId: string) =>
  (await ground.sql`select from device_claims where vm_id = ${vmId}`).length;

describe('a host without a connection', () => {
  it('makes its VMs UNREACHABLE, keeps their claims, stops their metering, and restores both when it is back', async () => {
    const host = await ground.addHost();
    const running = await ground.runVm(host);
    const crashed = await ground.runVm(host);
    await host.say(crashed, { state: 'VM_OBSERVED_STATE_CRASHED' });
    await lose(host);
    expect(await hostState(host)).toBe('unreachable');
    expect(await ground.vmState(running)).toBe('STATE_UNREACHABLE');
    expect(await ground.vmState(crashed)).toBe('STATE_UNREACHABLE');
    expect(await claims(running)).toBe(2);
    expect(await intervals(running)).toMatchObject([{ ended_at: expect.any(Date) }]);
    await markUnreachable({ ...ground, silence });
    await host.attachAgain();
    const report = await host.done();
    wordOn(report, crashed).state = 'VM_OBSERVED_STATE_CRASHED';
    await host.report(report);
    expect(await hostState(host)).toBe('ready');
    expect(await ground.vmState(running)).toBe('STATE_RUNNING');
    expect(await ground.vmState(crashed)).toBe('STATE_CRASHED');
    expect(await events(running)).toEqual(['vm_unreachable', 'vm_reachable']);
    expect(await intervals(running)).toMatchObject([
      { ended_at: expect.any(Date) },
      { ended_at: null },
    ]);
  });

  it('meters a VM again only after a report shows it', async () => {
    const host = await ground.addHost();
    const vmId = await ground.runVm(host);
    await lose(host);
    await host.attachAgain();
    await host.say(vmId, { state: 'VM_OBSERVED_STATE_WORKING', revision: '0' });
    expect((await intervals(vmId)).filter(({ ended_at }) => ended_at === null)).toHaveLength(0);
    await host.obey();
    expect((await intervals(vmId)).filter(({ ended_at }) => ended_at === null)).toHaveLength(1);
  });

  it('keeps a DELETE waiting', async () => {
    const host = await ground.addHost();
    const vmId = await ground.runVm(host);
    await lose(host);
    const { operationId } = await ground.ask('DELETE', `/vms/${vmId}`);
    await ground.turn();
    expect(await ground.vmState(vmId)).toBe('STATE_DELETING');
    await host.attachAgain();
    await host.obey();
    expect(await ground.vmState(vmId)).toBe('gone');
    expect(await ground.operation(operationId)).toMatchObject({ state: 'SUCCEEDED' });
  });

  it('stays reachable while a scheduler holds its stream, or after it has come back', async () => {
    const host = await ground.addHost();
    await ground.sql`update hosts set last_seen_at = now() - interval '1 day' where id = ${host.id}`;
    await markUnreachable({ ...ground, silence });
    expect(await hostState(host)).toBe('ready');
    const { epoch } = host;
    await host.attachAgain();
    await closeStreams(ground.sql, [{ hostId: host.id, streamEpoch: epoch }]);
    await markUnreachable({ ...ground, silence });
    expect(await hostState(host)).toBe('ready');
  });
});

describe('a scheduler', () => {
  it('that stops renewing its lease loses its hosts, with its own last time as theirs', async () => {
    const host = await ground.addHost();
    await ground.sql`update schedulers set last_seen_at = now() - interval '61 seconds' where id = ${host.schedulerId}`;
    await markUnreachable({ ...ground, silence });
    expect(await hostState(host)).toBe('unreachable');
    const { schedulerId } = host;
    expect(await recordHeartbeat(ground.sql, { schedulerId, address: '' })).toBe(true);
    expect(await recordHeartbeat(ground.sql, { schedulerId, address: '' })).toBe(false);
    const other = newId();
    await recordHeartbeat(ground.sql, { schedulerId: other, address: '' });
    host.epoch = (await openStream(ground.sql, { hostId: host.id, schedulerId: other })) ?? '';
    await host.obey();
    expect(await hostState(host)).toBe('ready');
  });

  it('that stops ends its own streams and no others', async () => {
    const [one, two] = [await ground.addHost(), await ground.addHost()];
    await removeScheduler(ground.sql, one.schedulerId);
    expect(
      await ground.sql`select id from hosts where scheduler_id is null and id = any(${[one.id, two.id]}::uuid[])`,
    ).toMatchObject([{ id: one.id }]);
  });
});

describe('a fenced host', () => {
  it('has no claims, and its VMs can start elsewhere', async () => {
    const host = await ground.addHost({ sharedStorage: true });
    const heir = await ground.addHost({ sharedStorage: true });
    const vmId = await ground.runVm(host);
    await lose(host);
    expect(await claims(vmId)).toBe(2);
    await fence(host);
    expect(await claims(vmId)).toBe(0);
    expect(await hostState(host)).toBe('fenced');
    expect(await ground.vmState(vmId)).toBe('STATE_CRASHED');
    expect(await events(vmId)).toContain('vm_host_fenced');
    const { operationId } = await ground.ask('PATCH', `/vms/${vmId}`, { action: 'START' });
    await ground.place(vmId, heir);
    await heir.obey();
    expect(await ground.operation(operationId)).toMatchObject({ state: 'SUCCEEDED' });
    expect(await host.report(await host.done())).toBe(false);
    expect(await openStream(ground.sql, { hostId: host.id, schedulerId: newId() })).toBeUndefined();
  });

  it('has exactly the devices of its VMs quarantined, because they were not cleaned', async () => {
    const host = await ground.addHost({ gpus: 2 });
    const vmId = await ground.runVm(host);
    const claimed =
      await ground.sql`select device_id as id from device_claims where vm_id = ${vmId}`;
    await ground.sql`update devices set serial = ${vmId} where kind = 'drive' and id = any(${claimed.map(({ id }) => id)}::uuid[])`;
    await fence(host);
    const devices =
      await ground.sql`select id, state, state_reason from devices where host_id = ${host.id}`;
    const unclean = devices.filter(({ state }) => state === 'quarantined');
    const idsOf = (rows: readonly Record<string, string>[]) => rows.map(({ id }) => id).sort();
    expect(idsOf(unclean)).toEqual(idsOf(claimed));
    expect(unclean[0]?.['state_reason']).toContain(
      'declared the host dead while a VM had the device',
    );
    expect(devices.filter(({ state }) => state === 'ready')).toHaveLength(2);
    // The drive is known by its serial number wherever it turns up, though the host be removed.
    expect(
      await ground.sql`select kind, method, serial, failure_code from device_receipts
        where vm_id = ${vmId} order by kind`,
    ).toMatchObject([
      { kind: 'drive', method: 'none', serial: vmId, failure_code: 'host_fenced' },
      { kind: 'gpu', method: 'none', serial: '', failure_code: 'host_fenced' },
    ]);
  });

  it('fails a creation, and the VM is removed', async () => {
    const host = await ground.addHost();
    const { id, operationId } = await ground.createVm();
    await ground.place(id, host);
    await fence(host);
    await ground.turn();
    expect(await ground.operation(operationId)).toMatchObject({
      ...{ state: 'FAILED', result: { code: 'host_failed' } },
    });
    expect(await ground.vmState(id)).toBe('gone');
  });

  it('ends other operations: a STOP leaves a stopped VM, a DELETE removes it, disks keep their attachments', async () => {
    const host = await ground.addHost();
    const stopping = await ground.runVm(host);
    const deleting = await ground.runVm(host);
    const attaching = await ground.runVm(host);
    const diskId = await ground.createDisk();
    await ground.ask('PATCH', `/vms/${stopping}`, { action: 'STOP' });
    const deletion = await ground.ask('DELETE', `/vms/${deleting}`);
    const attachment = await ground.ask('POST', `/vms/${attaching}/attach-disks`, {
      attach_disks: [{ disk_id: diskId, mode: 'read-write', attachment_type: 'data' }],
    });
    await fence(host);
    await ground.turn();
    expect(await ground.vmState(stopping)).toBe('STATE_SHUTOFF');
    expect(await ground.vmState(deleting)).toBe('gone');
    expect(await ground.operation(deletion.operationId)).toMatchObject({ state: 'SUCCEEDED' });
    expect(await ground.operation(attachment.operationId)).toMatchObject({ state: 'FAILED' });
    expect(await ground.sql`select from disk_attachments where disk_id = ${diskId}`).toHaveLength(
      0,
    );
  });

  it('leaves its disks on shared storage to another host, which removes deleted ones', async () => {
    await ground.sql`update hosts set shared_storage = false`;
    const host = await ground.addHost({ sharedStorage: true });
    const heir = await ground.addHost({ sharedStorage: true });
    const vmId = await ground.runVm(host);
    await fence(host);
    const { operationId } = await ground.ask('DELETE', `/vms/${vmId}`);
    await ground.turn();
    expect(await ground.vmState(vmId)).toBe('STATE_DELETING');
    const [disk] = await ground.sql`select d.id, d.host_id from disks d
      join disk_attachments a on a.disk_id = d.id where a.vm_id = ${vmId}`;
    expect(disk?.['host_id']).toBe(heir.id);
    expect((await heir.spec()).deletedDisks).toContain(disk?.['id']);
    await heir.obey();
    await ground.turn();
    expect(await ground.operation(operationId)).toMatchObject({ state: 'SUCCEEDED' });
  });
});
