import { type Cloud, startCloud } from '@gantry/testkit/cloud/start-cloud';
import { afterAll, beforeAll, expect, it } from 'vitest';

/** Disks at the creation of a VM, from the request to the hosts. The hosts share no storage. */
let cloud: Cloud;
const POLL = { timeout: 30_000 };

beforeAll(async () => {
  cloud = await startCloud();
  await cloud.addScheduler();
  await cloud.addHost({ sharedStorage: false });
  await cloud.addHost({ sharedStorage: false });
});
afterAll(() => cloud.stop());

/** Returns how the creation ended, and the id of the VM. */
async function create(fields: Record<string, unknown>) {
  const { operationId, id } = await cloud.createVm(fields);
  const read = () => cloud.operation(operationId);
  await expect.poll(async () => (await read()).state, POLL).not.toBe('IN_PROGRESS');
  return { id, ...(await read()) };
}
const hostOf = async (vmId: string) =>
  (await cloud.sql`select host_id from placements where vm_id = ${vmId}`)[0]?.['host_id'];
const disksOf = async (vmId: string) => {
  const { body } = await cloud.call('GET', `/vms/${vmId}`);
  return (body.disks as { id: string; name: string }[]).slice(1);
};

it('a disk that is created with a VM outlives it, and the next VM with it runs on the same host', async () => {
  const first = await create({ disks: [{ name: 'data', size: '1GiB' }] });
  expect(first.state).toBe('SUCCEEDED');
  const home = await hostOf(first.id);
  const [disk] = await disksOf(first.id);
  await cloud.request('DELETE', `/vms/${first.id}`);
  await expect.poll(() => cloud.vmState(first.id), POLL).toBe('gone');

  for (const mode of ['read-only', 'read-only']) {
    const next = await create({ disks: [{ disk_id: disk?.id, mode }] });
    expect(next).toMatchObject({ state: 'SUCCEEDED' });
    expect(await hostOf(next.id)).toBe(home);
  }
});

it('a creation that finds no host removes the disks that it has created, and no other', async () => {
  const { id: kept } = await cloud.requestDisk();
  const ready = async () => (await cloud.call('GET', `/disks/${kept}`)).body.state;
  await expect.poll(ready, POLL).toBe('ready');
  const disks = [{ disk_id: kept }, { name: 'unused', size: '1GiB' }];
  const failed = await create({ type: 'a100.8x', disks });
  expect(failed).toMatchObject({ state: 'FAILED', result: { code: 'out_of_stock' } });
  const names = async () => {
    const { body } = await cloud.call('GET', '/disks');
    return (body.items as { name: string }[]).map(({ name }) => name);
  };
  await expect.poll(names, POLL).not.toContain('unused');
  expect((await cloud.call('GET', `/disks/${kept}`)).body).toMatchObject({ vm_ids: [] });
  const metered = await cloud.sql`select resource_type from meter_intervals where ended_at is null
    and resource_id not in (select id from disks union all select id from vms)`;
  expect(metered).toEqual([]);
});
