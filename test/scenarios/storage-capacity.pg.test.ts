import type { SimulatedHost } from '@gantry/simulator/fleet/simulated-host';
import { type Cloud, startCloud } from '@gantry/testkit/cloud/start-cloud';
import { afterAll, beforeAll, expect, it } from 'vitest';

/**
 * Tests the way from the storage that an agent reports to what is placed, offered and refused. The host offers 300 GiB,
 * and every VM has an OS disk of 128 GiB.
 */
let cloud: Cloud;
let host: SimulatedHost;
const POLL = { timeout: 30_000 };

const shown = async () =>
  (await cloud.api.call('GET', `/admin/hosts/${host.id}`, { bearer: cloud.operator })).body;

beforeAll(async () => {
  cloud = await startCloud();
  await cloud.addScheduler();
  host = await cloud.addHost({ sharedStorage: false });
  const gib = (count: number) => String(count * 1024 ** 3);
  host.changeInventory((inventory) => ({
    ...inventory,
    storagePools: [
      {
        ...{ name: '/data', diskKinds: ['DISK_KIND_PERSISTENT_SSD'] },
        ...{ sizeBytes: gib(320), freeBytes: gib(310), offeredBytes: gib(300) },
      },
    ],
  }));
});
afterAll(() => cloud.stop());

type Requested = { operationId: string; id: string };

/** Returns how the operation ended, and the id of its resource. */
async function ended(requested: Promise<Requested>) {
  const { operationId, id } = await requested;
  const read = () => cloud.operation(operationId);
  await expect.poll(async () => (await read()).state, POLL).not.toBe('IN_PROGRESS');
  const { state, result } = await read();
  return { id, state, result };
}
const createVm = () => ended(cloud.createVm());
const remove = async (path: string) => {
  expect(await ended(cloud.request('DELETE', path))).toMatchObject({ state: 'SUCCEEDED' });
};
const createDisk = async (size: string) => {
  const { id } = await ended(
    cloud.request('POST', '/disks', { name: 'data', size, location: 'eu-north-a' }),
  );
  return id;
};
const attach = (vmId: string, diskId: string) =>
  cloud.call('POST', `/vms/${vmId}/attach-disks`, { attach_disks: [{ disk_id: diskId }] });
const isAvailable = async () => {
  const { body } = await cloud.call('GET', '/availabilities?location=eu-north-a');
  return body.items.find(({ type }: { type: string }) => type === 'a40.1x')?.available;
};

it('a full host takes a VM again when a disk of a stopped VM or a data disk is deleted', async () => {
  await expect.poll(async () => (await shown()).storage_pools, POLL).toHaveLength(1);
  const first = await createVm();
  const second = await createVm();
  expect([first.state, second.state]).toEqual(['SUCCEEDED', 'SUCCEEDED']);
  expect((await shown()).disks_gib).toBe(256);
  expect(await createVm()).toMatchObject({
    state: 'FAILED',
    result: {
      code: 'out_of_stock',
      details: { filters: expect.arrayContaining([{ filter: 'disk_space', left: 0 }]) },
    },
  });
  await expect.poll(isAvailable, POLL).toBe(false);

  const disk = await createDisk('45GiB');
  expect(await attach(first.id, disk)).toMatchObject({ status: 409, body: { code: 'conflict' } });

  expect(
    await ended(cloud.request('PATCH', `/vms/${second.id}`, { action: 'STOP' })),
  ).toMatchObject({
    state: 'SUCCEEDED',
  });
  expect(await createVm()).toMatchObject({ state: 'FAILED' });
  await remove(`/vms/${second.id}`);
  await expect.poll(isAvailable, POLL).toBe(true);

  const attaching = attach(first.id, disk).then(({ body }) => ({
    operationId: body.operation.operation_id,
    id: disk,
  }));
  expect(await ended(attaching)).toMatchObject({ state: 'SUCCEEDED' });
  expect(await cloud.call('PATCH', `/disks/${disk}`, { size: '173GiB' })).toMatchObject({
    status: 409,
  });
  expect((await shown()).disks_gib).toBe(173);
  expect(await createVm()).toMatchObject({ state: 'FAILED' });
  await ended(cloud.request('POST', `/vms/${first.id}/detach-disks`, { detach_disks: [disk] }));
  await remove(`/disks/${disk}`);
  await expect.poll(isAvailable, POLL).toBe(true);
  expect(await createVm()).toMatchObject({ state: 'SUCCEEDED' });
});
