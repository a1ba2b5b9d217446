import { GIB } from '@gantry/daemon/units';
import { endOverdueOperations } from '@gantry/scheduler/settle/end-overdue';
import { type Cloud, startCloud } from '@gantry/testkit/cloud/start-cloud';
import { failure, wordOn } from '@gantry/testkit/hosts/hand-driven-host';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let cloud: Cloud;
beforeAll(async () => {
  cloud = await startCloud();
});
afterAll(() => cloud.stop());

const attach = (vmId: string, ...diskIds: string[]) =>
  cloud.request('POST', `/vms/${vmId}/attach-disks`, {
    attach_disks: diskIds.map((disk_id) => ({
      disk_id,
      mode: 'read-write',
      attachment_type: 'data',
    })),
  });
const detach = (vmId: string, diskId: string) =>
  cloud.request('POST', `/vms/${vmId}/detach-disks`, { detach_disks: [diskId] });
const disk = async (id: string) => {
  const { status, body } = await cloud.call('GET', `/disks/${id}`);
  return status === 404 ? { state: 'gone' } : body;
};
const disksOf = async (vmId: string) =>
  (
    await cloud.sql`select disk_id from disk_attachments where vm_id = ${vmId} and attachment_type = 'data'`
  ).map(({ disk_id }) => disk_id);
const meters = (id: string) =>
  cloud.sql`select units::int, ended_at from meter_intervals where resource_id = ${id} order by started_at, id`;
const state = async (operationId: string) => (await cloud.operation(operationId)).state;

describe('a disk that no host has', () => {
  it('is created, grown and deleted without a host, and is metered from its creation to its deletion', async () => {
    const { id, operationId } = await cloud.request('POST', '/disks', {
      ...{
        name: 'alone',
        type: 'persistent-ssd',
        size: '10GiB',
        location: 'eu-north-a',
        block_size: 512,
      },
    });
    await cloud.settleWithoutHost();
    expect(await cloud.operation(operationId)).toMatchObject({
      state: 'SUCCEEDED',
      result: { id },
    });
    const growth = await cloud.request('PATCH', `/disks/${id}`, { size: '20GiB' });
    await cloud.settleWithoutHost();
    expect(await state(growth.operationId)).toBe('SUCCEEDED');
    const deletion = await cloud.request('DELETE', `/disks/${id}`);
    await cloud.settleWithoutHost();
    expect(await state(deletion.operationId)).toBe('SUCCEEDED');
    expect(await disk(id)).toEqual({ state: 'gone' });
    expect(await meters(id)).toMatchObject([
      { units: 10, ended_at: expect.any(Date) },
      { units: 20, ended_at: expect.any(Date) },
    ]);
  });
});

describe('a disk that a host stores', () => {
  it('is metered until its deletion is requested, whenever the host removes it', async () => {
    const host = await cloud.addHandDrivenHost();
    const vmId = await cloud.runVm(host);
    const diskId = await cloud.createDisk();
    await attach(vmId, diskId);
    await host.obey();
    await detach(vmId, diskId);
    await host.obey();
    const { operationId } = await cloud.request('DELETE', `/disks/${diskId}`);
    const [operation] =
      await cloud.sql`select recorded_at from operations where id = ${operationId}`;
    const atRequest = await meters(diskId);
    expect(atRequest).toMatchObject([{ ended_at: operation?.['recorded_at'] }]);
    await cloud.settleWithoutHost();
    expect(await state(operationId)).toBe('IN_PROGRESS');
    await host.obey();
    await cloud.settleWithoutHost();
    expect(await state(operationId)).toBe('SUCCEEDED');
    expect(await meters(diskId)).toEqual(atRequest);
  });
});

describe('a running VM', () => {
  it('gets a disk when its host reports it, and loses it when the host no longer reports it', async () => {
    const host = await cloud.addHandDrivenHost();
    const vmId = await cloud.runVm(host);
    const diskId = await cloud.createDisk();
    const attached = await attach(vmId, diskId);
    expect((await host.spec()).vms?.[0]?.disks).toHaveLength(2);
    await host.obey((report) => wordOn(report, vmId).disks.pop());
    expect(await state(attached.operationId)).toBe('IN_PROGRESS');
    await host.obey();
    expect(await cloud.operation(attached.operationId)).toMatchObject({
      ...{ state: 'SUCCEEDED', result: { disks: [{}, { id: diskId }] } },
    });
    const detached = await detach(vmId, diskId);
    const stillThere = wordOn(await host.done(), vmId).disks;
    await host.obey((report) => {
      wordOn(report, vmId).disks = [...stillThere, { id: diskId, sizeBytes: String(10 * GIB) }];
    });
    expect(await state(detached.operationId)).toBe('IN_PROGRESS');
    await host.obey();
    expect(await state(detached.operationId)).toBe('SUCCEEDED');
    expect(await disksOf(vmId)).toEqual([]);
    const deletion = await cloud.request('DELETE', `/disks/${diskId}`);
    await cloud.settleWithoutHost();
    expect(await disk(diskId)).toMatchObject({ state: 'deleting' });
    expect((await host.spec()).deletedDisks).toEqual([diskId]);
    await host.obey();
    await cloud.settleWithoutHost();
    expect(await state(deletion.operationId)).toBe('SUCCEEDED');
    expect((await host.spec()).deletedDisks).toEqual([]);
  });

  it('keeps none of the disks of an attachment that failed', async () => {
    const host = await cloud.addHandDrivenHost();
    const vmId = await cloud.runVm(host);
    const [first, second] = [await cloud.createDisk(), await cloud.createDisk()];
    const { operationId } = await attach(vmId, first, second);
    await host.obey((report) => {
      const word = wordOn(report, vmId);
      word.disks = word.disks.filter(({ id }) => id !== second);
      word.failure = failure('disk_in_use');
    });
    expect(await cloud.operation(operationId)).toMatchObject({
      ...{ state: 'FAILED', result: { code: 'disk_in_use' } },
    });
    expect((await host.spec()).vms?.[0]?.disks).toHaveLength(1);
    await host.obey();
    expect(await disksOf(vmId)).toEqual([]);
    expect(await cloud.vmState(vmId)).toBe('STATE_RUNNING');
  });

  it('keeps a disk whose detachment failed', async () => {
    const host = await cloud.addHandDrivenHost();
    const vmId = await cloud.runVm(host);
    const diskId = await cloud.createDisk();
    await attach(vmId, diskId);
    const { vms } = await host.obey();
    const { operationId } = await detach(vmId, diskId);
    await host.say(vmId, { disks: vms[0]?.disks ?? [], failure: failure('guest_holds_it') });
    expect(await state(operationId)).toBe('FAILED');
    expect((await host.spec()).vms?.[0]?.disks).toHaveLength(2);
  });

  it('that stops releases what a rolled-back attachment left', async () => {
    const host = await cloud.addHandDrivenHost();
    const vmId = await cloud.runVm(host);
    const diskId = await cloud.createDisk();
    await attach(vmId, diskId);
    await host.obey((report) => {
      wordOn(report, vmId).disks.pop();
      wordOn(report, vmId).failure = failure('no_space');
    });
    await cloud.request('PATCH', `/vms/${vmId}`, { action: 'STOP' });
    await host.obey();
    expect(await disksOf(vmId)).toEqual([]);
    await cloud.request('DELETE', `/disks/${diskId}`);
    await cloud.settleWithoutHost();
    expect(await disk(diskId)).toEqual({ state: 'gone' });
  });

  it('sees a disk grow; a failed growth is rolled back and can be retried', async () => {
    const host = await cloud.addHandDrivenHost();
    const vmId = await cloud.runVm(host);
    const diskId = await cloud.createDisk();
    await attach(vmId, diskId);
    await host.obey();
    const { operationId } = await cloud.request('PATCH', `/disks/${diskId}`, { size: '20GiB' });
    await host.obey((report) => {
      for (const one of wordOn(report, vmId).disks)
        if (one.id === diskId) one.sizeBytes = String(10 * GIB);
      wordOn(report, vmId).failure = failure('no_space');
    });
    await cloud.settleWithoutHost();
    expect(await cloud.operation(operationId)).toMatchObject({
      ...{ state: 'FAILED', result: { code: 'no_space' } },
    });
    expect(await disk(diskId)).toMatchObject({ state: 'ready', size: '10GiB' });
    const again = await cloud.request('PATCH', `/disks/${diskId}`, { size: '20GiB' });
    await cloud.settleWithoutHost();
    expect(await state(again.operationId)).toBe('IN_PROGRESS');
    await host.obey();
    await cloud.settleWithoutHost();
    expect(await state(again.operationId)).toBe('SUCCEEDED');
    expect(await meters(diskId)).toMatchObject([
      { units: 10, ended_at: expect.any(Date) },
      { units: 20, ended_at: null },
    ]);
  });

  it('that crashes meanwhile still ends the operation, and releases the disk at once', async () => {
    const host = await cloud.addHandDrivenHost();
    const vmId = await cloud.runVm(host);
    const diskId = await cloud.createDisk();
    const attached = await attach(vmId, diskId);
    await host.say(vmId, { state: 'VM_OBSERVED_STATE_CRASHED' });
    expect(await state(attached.operationId)).toBe('SUCCEEDED');
    await cloud.request('PATCH', `/vms/${vmId}`, { action: 'START' });
    const { vms } = await host.obey();
    const detached = await detach(vmId, diskId);
    await host.say(vmId, { state: 'VM_OBSERVED_STATE_CRASHED', disks: vms[0]?.disks ?? [] });
    expect(await state(detached.operationId)).toBe('SUCCEEDED');
    expect(await disksOf(vmId)).toEqual([]);
  });

  it('that its host cannot bring up keeps its disks', async () => {
    const host = await cloud.addHandDrivenHost();
    const vmId = await cloud.runVm(host);
    const diskId = await cloud.createDisk();
    const { operationId } = await attach(vmId, diskId);
    await host.say(vmId, { state: 'VM_OBSERVED_STATE_FAILED' });
    expect(await state(operationId)).toBe('FAILED');
    await host.obey();
    expect(await disksOf(vmId)).toEqual([]);
  });

  it('keeps its data disks when it is deleted', async () => {
    const host = await cloud.addHandDrivenHost();
    const vmId = await cloud.runVm(host);
    const diskId = await cloud.createDisk();
    await attach(vmId, diskId);
    await host.obey();
    await cloud.request('DELETE', `/vms/${vmId}`);
    expect((await host.spec()).takeDowns?.[0]?.disks).not.toContain(diskId);
    await host.obey();
    expect(await cloud.vmState(vmId)).toBe('gone');
    expect(await disk(diskId)).toMatchObject({ state: 'ready' });
    expect(await cloud.sql`select from disk_attachments where disk_id = ${diskId}`).toHaveLength(0);
    expect(await meters(diskId)).toMatchObject([{ ended_at: null }]);
  });
});

describe('a stopped VM', () => {
  const stopped = async (options = {}) => {
    const host = await cloud.addHandDrivenHost(options);
    const vmId = await cloud.runVm(host);
    await cloud.request('PATCH', `/vms/${vmId}`, { action: 'STOP' });
    await host.obey();
    return { host, vmId };
  };

  it('can attach and detach disks without a host', async () => {
    const { vmId } = await stopped();
    const diskId = await cloud.createDisk();
    const attached = await attach(vmId, diskId);
    await cloud.settleWithoutHost();
    expect(await cloud.operation(attached.operationId)).toMatchObject({
      ...{ state: 'SUCCEEDED', result: { disks: [{}, { id: diskId }] } },
    });
    const detached = await detach(vmId, diskId);
    await cloud.settleWithoutHost();
    expect(await state(detached.operationId)).toBe('SUCCEEDED');
    expect(await disksOf(vmId)).toEqual([]);
  });

  it('has its disks grown by the host that stores them', async () => {
    const host = await cloud.addHandDrivenHost();
    const vmId = await cloud.runVm(host);
    const diskId = await cloud.createDisk();
    await attach(vmId, diskId);
    await host.obey();
    await cloud.request('PATCH', `/vms/${vmId}`, { action: 'STOP' });
    await host.obey();
    const { operationId } = await cloud.request('PATCH', `/disks/${diskId}`, { size: '20GiB' });
    await cloud.settleWithoutHost();
    expect(await state(operationId)).toBe('IN_PROGRESS');
    expect((await host.spec()).disks).toMatchObject([{ id: diskId, sizeBytes: 20 * GIB }]);
    await host.obey((report) => {
      for (const one of report.disks) one.sizeBytes = String(10 * GIB);
    });
    await cloud.settleWithoutHost();
    expect(await state(operationId)).toBe('IN_PROGRESS');
    await host.obey();
    await cloud.settleWithoutHost();
    expect(await state(operationId)).toBe('SUCCEEDED');
    expect((await host.spec()).disks).toEqual([]);
  });

  it('cannot attach a disk that only another host stores, unless the storage is shared', async () => {
    const { vmId } = await stopped();
    const other = await cloud.addHandDrivenHost();
    const holder = await cloud.runVm(other);
    const diskId = await cloud.createDisk();
    await attach(holder, diskId);
    await other.obey();
    await detach(holder, diskId);
    await other.obey();
    const refused = await cloud.call('POST', `/vms/${vmId}/attach-disks`, {
      attach_disks: [{ disk_id: diskId, mode: 'read-write', attachment_type: 'data' }],
    });
    expect(refused).toMatchObject({ status: 409, body: { code: 'conflict' } });
    const { vmId: near } = await stopped({ sharedStorage: true });
    await cloud.sql`update hosts set shared_storage = true where id = ${other.id}`;
    const attached = await attach(near, diskId);
    await cloud.settleWithoutHost();
    expect(await state(attached.operationId)).toBe('SUCCEEDED');
  });
});

it('a disk that many hosts read is stored by one of them, and reports of the others change nothing', async () => {
  const hosts = [
    await cloud.addHandDrivenHost({ sharedStorage: true }),
    await cloud.addHandDrivenHost({ sharedStorage: true }),
  ];
  const diskId = await cloud.createDisk();
  for (const host of hosts) {
    const vmId = await cloud.runVm(host);
    await cloud.request('POST', `/vms/${vmId}/attach-disks`, {
      attach_disks: [{ disk_id: diskId, mode: 'read-only', attachment_type: 'data' }],
    });
    await host.obey();
  }
  const keeper = () => cloud.sql`select host_id, xmin from disks where id = ${diskId}`;
  const before = await keeper();
  for (const host of [...hosts, ...hosts]) await host.obey();
  expect(await keeper()).toEqual(before);
});

it('a growth past its deadline is rolled back', async () => {
  const host = await cloud.addHandDrivenHost();
  const vmId = await cloud.runVm(host);
  const diskId = await cloud.createDisk();
  await attach(vmId, diskId);
  await host.obey();
  const { operationId } = await cloud.request('PATCH', `/disks/${diskId}`, { size: '1TiB' });
  await cloud.sql`update operations set deadline_at = now() - interval '1 second' where id = ${operationId}`;
  await endOverdueOperations({ sql: cloud.sql, log: cloud.log });
  expect(await cloud.operation(operationId)).toMatchObject({ state: 'FAILED' });
  expect(await disk(diskId)).toMatchObject({ state: 'ready', size: '10GiB' });
});
