import type { SimulatedHost } from '@gantry/simulator/fleet/simulated-host';
import { refusal } from '@gantry/testkit/api/read-errors';
import { type Cloud, startCloud } from '@gantry/testkit/cloud/start-cloud';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

/** Snapshots of disks that hosts store, from the request to the host and back. */
let cloud: Cloud;
let host: SimulatedHost;
let vmId: string;
let diskId: string;
let made = 0;
const POLL = { timeout: 30_000 };

beforeAll(async () => {
  cloud = await startCloud();
  await cloud.addScheduler();
  host = await cloud.addHost({ sharedStorage: false });
});
afterAll(() => cloud.stop());

type Requested = { operationId: string; id: string };

/** Returns how the operation ended, and the id of its resource. */
async function ended(requested: Requested | Promise<Requested>) {
  const { operationId, id } = await requested;
  const read = () => cloud.operation(operationId);
  await expect.poll(async () => (await read()).state, POLL).not.toBe('IN_PROGRESS');
  const { state, result } = await read();
  return { id, state, result };
}
const succeed = async (requested: Requested | Promise<Requested>) => {
  const { id, state, result } = await ended(requested);
  expect({ state, result }).toMatchObject({ state: 'SUCCEEDED' });
  return id;
};
const newSnapshot = (body: object = {}) =>
  cloud.request('POST', '/snapshots', { name: `s-${made++}`, disk_id: diskId, ...body });
const newCopy = (snapshotId: string, size = '10GiB') =>
  cloud.request('POST', '/disks', {
    ...{ name: `copy-${made++}`, size, location: 'eu-north-a', snapshot_id: snapshotId },
  });
const read = async (path: string) => (await cloud.call('GET', path)).body;
const refused = async (method: string, path: string, body?: unknown) =>
  refusal(await cloud.call(method, path, body));
const vmAction = (action: string) => cloud.request('PATCH', `/vms/${vmId}`, { action });
const storedSnapshots = () => [...host.driver.disks.snapshots.keys()];
const overdue = (operationId: string) =>
  cloud.sql`update operations set deadline_at = now() - interval '1 second' where id = ${operationId}`;

beforeEach(async () => {
  vmId = await succeed(cloud.createVm());
  ({ id: diskId } = await cloud.requestDisk());
  await expect.poll(async () => (await read(`/disks/${diskId}`)).state, POLL).toBe('ready');
  const attach_disks = [{ disk_id: diskId }];
  await succeed(cloud.request('POST', `/vms/${vmId}/attach-disks`, { attach_disks }));
  host.driver.disks.write(diskId, 'first');
});
afterEach(async () => {
  host.driver.faults.clear();
  host.driver.behave({ copyMs: 0, hasGuestAgent: true });
  await cloud.request('DELETE', `/vms/${vmId}`).catch(() => {});
  await expect.poll(() => cloud.vmState(vmId), POLL).toBe('gone');
});

describe('a snapshot of a disk that a host stores', () => {
  it('is made while the guest runs, counted, metered, listed, and gone after its deletion', async () => {
    const used = async () =>
      (
        await cloud.sql`select used::int from quotas where project_id = ${cloud.tenant.projectId}
        and type = 'snapshot_gib'`
      )[0]?.['used'];
    const before = await used();
    const snapshotId = await succeed(newSnapshot());
    expect(await read(`/snapshots/${snapshotId}`)).toMatchObject({
      ...{ state: 'ready', problem: '', disk_id: diskId, size: '10GiB', location: 'eu-north-a' },
    });
    expect(storedSnapshots()).toContain(snapshotId);
    expect(await used()).toBe(before + 10);
    const metered = () => cloud.sql`select units::int, ended_at is null as open from meter_intervals
      where resource_id = ${snapshotId}`;
    expect(await metered()).toMatchObject([{ units: 10, open: true }]);
    await succeed(cloud.request('DELETE', `/snapshots/${snapshotId}`));
    expect((await cloud.call('GET', `/snapshots/${snapshotId}`)).status).toBe(404);
    expect(storedSnapshots()).not.toContain(snapshotId);
    expect(await used()).toBe(before);
    expect(await metered()).toMatchObject([{ open: false }]);
  });

  it('of an OS disk outlives the VM, and becomes a disk on the same host', async () => {
    const os = (await read(`/vms/${vmId}`)).disks[0].id;
    host.driver.disks.write(os, 'system');
    const snapshotId = await succeed(newSnapshot({ disk_id: os }));
    await succeed(cloud.request('DELETE', `/vms/${vmId}`));
    expect(host.driver.disks.sizeBytes(os)).toBeNull();
    const copyId = await succeed(newCopy(snapshotId, '128GiB'));
    expect(host.driver.disks.content(copyId)).toBe('system');
  });

  it('is made of a frozen guest, which is thawed before the copy is complete', async () => {
    host.driver.behave({ copyMs: 1_500 });
    const requested = await newSnapshot({ freeze: true });
    const isFrozen = () => host.driver.hypervisor.domain(vmId)?.isFrozen;
    const freezing = async () =>
      (await cloud.sql`select freeze_state from snapshots where id = ${requested.id}`)[0]?.[
        'freeze_state'
      ];
    await expect.poll(freezing, POLL).toBe('held');
    expect(isFrozen()).toBe(false);
    host.driver.disks.write(diskId, 'later');
    const snapshotId = await succeed(requested);
    expect(host.driver.disks.snapshots.get(snapshotId)?.content).toBe('first');
  });

  it('fails if the guest cannot be frozen, with the reason', async () => {
    host.driver.behave({ hasGuestAgent: false });
    expect(await ended(newSnapshot({ freeze: true }))).toMatchObject({
      ...{ state: 'FAILED', result: { code: 'freeze_failed' } },
    });
  });

  it('keeps its disk from being detached, grown and copied again, and its VM from starting', async () => {
    await succeed(vmAction('STOP'));
    host.driver.faults.hang('make_snapshot');
    const requested = await newSnapshot();
    await expect.poll(() => host.driver.faults.hangingIn('make_snapshot'), POLL).toBe(1);
    const conflict = [409, 'conflict'];
    expect(await refused('PATCH', `/vms/${vmId}`, { action: 'START' })).toEqual(conflict);
    const detach = { detach_disks: [diskId] };
    expect(await refused('POST', `/vms/${vmId}/detach-disks`, detach)).toEqual(conflict);
    expect(await refused('PATCH', `/disks/${diskId}`, { size: '20GiB' })).toEqual(conflict);
    const another = { name: 'another', disk_id: diskId };
    expect(await refused('POST', '/snapshots', another)).toEqual(conflict);
    host.driver.faults.unhang('make_snapshot');
    await succeed(requested);
    await succeed(vmAction('START'));
  });

  it('that its host cannot make fails with the reason of the host, and can be deleted', async () => {
    host.driver.faults.failNext('copy_disk', 1, { code: 'storage_full', message: 'no space left' });
    const { id, state, result } = await ended(newSnapshot());
    expect({ state, result }).toMatchObject({
      ...{ state: 'FAILED', result: { code: 'storage_failed', message: 'no space left' } },
    });
    expect(await read(`/snapshots/${id}`)).toMatchObject({
      state: 'failed',
      problem: 'no space left',
    });
    await succeed(cloud.request('DELETE', `/snapshots/${id}`));
    expect(storedSnapshots()).not.toContain(id);
  });

  it('is completed by the agent that is started after a crash', async () => {
    host.driver.faults.hang('finish_copy');
    const requested = await newSnapshot();
    await expect.poll(() => host.driver.faults.hangingIn('finish_copy'), POLL).toBe(1);
    host.kill();
    await host.start();
    host.driver.faults.clear();
    const snapshotId = await succeed(requested);
    expect(host.driver.disks.snapshots.get(snapshotId)?.content).toBe('first');
  });

  it('is refused if the agent, the storage or the space of the host does not allow it', async () => {
    const message = async () =>
      (await cloud.call('POST', '/snapshots', { name: 'refused', disk_id: diskId })).body.message;
    const { sql } = cloud;
    const [before] =
      await sql`select inventory, storage_gib, shared_storage from hosts where id = ${host.id}`;
    const change = (path: string[], value: unknown) => sql`update hosts
      set inventory = jsonb_set(inventory, ${path}::text[], ${sql.json(value as never)}) where id = ${host.id}`;
    await change(['software', 'capabilities'], ['guest_freezes']);
    expect(await message()).toContain('too old');
    await change(['software', 'capabilities'], ['local_snapshots']);
    await change(['storagePools'], [{ lacksSnapshots: 'they need a thin pool' }]);
    expect(await message()).toContain('they need a thin pool');
    await change(['storagePools'], []);
    await sql`update hosts set shared_storage = true where id = ${host.id}`;
    expect(await message()).toContain('directory that hosts share');
    await sql`update hosts set shared_storage = false, storage_gib = disks_gib(id) + 9 where id = ${host.id}`;
    expect(await message()).toContain('no room');
    await sql`update hosts set inventory = ${sql.json(before?.['inventory'])}, storage_gib = null where id = ${host.id}`;
    const { id: unused } = await cloud.requestDisk();
    await expect.poll(async () => (await read(`/disks/${unused}`)).state, POLL).toBe('ready');
    const nowhere = { name: 'nowhere', disk_id: unused };
    expect(await refused('POST', '/snapshots', nowhere)).toEqual([409, 'conflict']);
    const image = { name: 'image', snapshot_id: await succeed(newSnapshot()) };
    expect((await cloud.call('POST', '/images', image)).status).toBe(400);
  });
});

describe('a disk from a snapshot on a host', () => {
  it('has its content, depends on nothing, and is attached to VMs of that host', async () => {
    const snapshotId = await succeed(newSnapshot());
    host.driver.disks.write(diskId, 'later');
    const copyId = await succeed(newCopy(snapshotId, '20GiB'));
    expect(await read(`/disks/${copyId}`)).toMatchObject({
      state: 'ready',
      storage: 'local',
      size: '20GiB',
    });
    expect(host.driver.disks.content(copyId)).toBe('first');
    await succeed(cloud.request('DELETE', `/snapshots/${snapshotId}`));
    const attach_disks = [{ disk_id: copyId }];
    await succeed(cloud.request('POST', `/vms/${vmId}/attach-disks`, { attach_disks }));
    expect(host.driver.disks.content(copyId)).toBe('first');
    const [row] = await cloud.sql`select host_id from disks where id = ${copyId}`;
    expect(row?.['host_id']).toBe(host.id);
  });

  it('is never an empty disk: it fails if its host cannot copy, and its deletion leaves nothing', async () => {
    const snapshotId = await succeed(newSnapshot());
    host.driver.faults.failNext('copy_snapshot', 1, {
      code: 'storage_full',
      message: 'no space left',
    });
    const { id, state, result } = await ended(newCopy(snapshotId));
    expect({ state, result }).toMatchObject({
      ...{ state: 'FAILED', result: { code: 'storage_failed', message: 'no space left' } },
    });
    expect((await read(`/disks/${id}`)).state).toBe('creating');
    await succeed(cloud.request('DELETE', `/disks/${id}`));
    expect(host.driver.disks.sizeBytes(id)).toBeNull();
  });
});

describe('restoring a snapshot on a host', () => {
  it('sets the disk of a stopped VM back once, and what is written afterwards stays', async () => {
    const snapshotId = await succeed(newSnapshot());
    host.driver.disks.write(diskId, 'later');
    const restore = `/snapshots/${snapshotId}:restore`;
    expect(await refused('POST', restore)).toEqual([409, 'conflict']);
    await succeed(vmAction('STOP'));
    expect(await succeed(cloud.request('POST', restore))).toBe(diskId);
    expect(host.driver.disks.content(diskId)).toBe('first');
    await succeed(vmAction('START'));
    host.driver.disks.write(diskId, 'of the guest');
    host.kill();
    await host.start();
    await succeed(newSnapshot());
    expect(host.driver.disks.content(diskId)).toBe('of the guest');
  });

  it('fails if the host does not have the snapshot, and the VM can start again', async () => {
    const snapshotId = await succeed(newSnapshot());
    await succeed(vmAction('STOP'));
    host.driver.disks.snapshots.delete(snapshotId);
    const { state, result } = await ended(
      cloud.request('POST', `/snapshots/${snapshotId}:restore`),
    );
    expect({ state, result }).toMatchObject({
      state: 'FAILED',
      result: { code: 'storage_failed' },
    });
    await succeed(vmAction('START'));
  });
});

describe('a host that is lost', () => {
  it('is awaited until the deadline; once it is fenced, snapshots there are settled without it', async () => {
    const other = await cloud.addHandDrivenHost();
    const lostVm = await cloud.runVm(other);
    const lostDisk = (await read(`/vms/${lostVm}`)).disks[0].id;
    await cloud.sql`update hosts set inventory = '{"software":{"capabilities":["local_snapshots"]}}' where id = ${other.id}`;
    const order = (name: string) => newSnapshot({ name, disk_id: lostDisk });

    const ready = await order('lost-ready');
    await other.obey();
    await succeed(ready);
    const late = await order('lost-late');
    await overdue(late.operationId);
    expect(await ended(late)).toMatchObject({
      state: 'FAILED',
      result: { code: 'storage_failed' },
    });

    const waiting = await order('lost-waiting');
    const copy = await newCopy(ready.id, '128GiB');
    await cloud.sql`update hosts set fenced_at = now() where id = ${other.id}`;
    expect(await ended(waiting)).toMatchObject({
      ...{ state: 'FAILED', result: { message: expect.stringContaining('declared dead') } },
    });
    await overdue(copy.operationId);
    expect(await ended(copy)).toMatchObject({ state: 'FAILED' });
    for (const { id } of [ready, late, waiting]) {
      await succeed(cloud.request('DELETE', `/snapshots/${id}`));
    }
    await succeed(cloud.request('DELETE', `/disks/${copy.id}`));
  });
});
