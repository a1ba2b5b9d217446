import type { Inventory } from '@gantry/proto/generated/gantry/v1/Inventory';
import type { SimulatedHost } from '@gantry/simulator/fleet/simulated-host';
import { type Cloud, startCloud } from '@gantry/testkit/cloud/start-cloud';
import { SSH_PUBLIC_KEY } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

/**
 * Tests the way from an agent's report to what operators and tenants see and where VMs are placed.
 */
let cloud: Cloud;
let host: SimulatedHost;
beforeAll(async () => {
  cloud = await startCloud();
  await cloud.addScheduler();
});
afterAll(() => cloud.stop());
beforeEach(async () => {
  host = await cloud.addHost({ gpus: 1 });
});

const POLL = { timeout: 30_000 };
const operate = (method: string, path: string) =>
  cloud.api.call(method, `/admin/${path}`, { bearer: cloud.operator });
const shown = async () => (await operate('GET', `hosts/${host.id}`)).body;
let names = 0;
/** Creates a VM with a GPU. Returns how its operation ended, and the VM's id. */
async function createVm(): Promise<{ id: string; state: string }> {
  names += 1;
  const { body } = await cloud.call('POST', '/vms', {
    ...{ name: `vm-${names}`, type: 'a40.1x', location: 'eu-north-a', image: 'debian-12' },
    ssh_public_key: SSH_PUBLIC_KEY,
  });
  const { operation_id, metadata } = body.operation;
  const state = async () =>
    (await cloud.sql`select state from operations where id = ${operation_id}`)[0]?.['state'];
  await expect.poll(state, POLL).not.toBe('IN_PROGRESS');
  return { id: metadata.id, state: await state() };
}
const deleteVm = async (id: string) => {
  await cloud.call('DELETE', `/vms/${id}`);
  await expect.poll(() => cloud.sql`select from vms where id = ${id}`, POLL).toHaveLength(0);
};
const withAer = (fatal: string) => (inventory: Inventory) => ({
  ...inventory,
  devices: (inventory.devices ?? []).map((device) =>
    device.kind === 'gpu' ? { ...device, aer: { correctable: '0', nonfatal: '0', fatal } } : device,
  ),
});

describe('a host whose hardware or software changed', () => {
  it('takes no new VM until an operator accepts the change, and keeps its VMs', async () => {
    const { id } = await createVm();
    host.changeInventory((inventory) => ({
      ...inventory,
      software: { ...inventory.software, kernel: 'another' },
    }));
    await expect
      .poll(async () => (await shown()).drift, POLL)
      .toEqual([expect.stringMatching(/^kernel: .* → another$/)]);
    expect((await cloud.call('GET', `/vms/${id}`)).body.state).toBe('STATE_RUNNING');
    await deleteVm(id);
    expect(await createVm()).toMatchObject({ state: 'FAILED' });
    expect((await operate('POST', `hosts/${host.id}:accept`)).body.drift).toEqual([]);
    const again = await createVm();
    expect(again.state).toBe('SUCCEEDED');
    await deleteVm(again.id);
    await operate('POST', `hosts/${host.id}:cordon`);
  });
});

describe('a GPU with a fatal error', () => {
  it('is not assigned to new VMs until it is released, and the owner of its VM gets one event', async () => {
    const gpu = async () => (await shown()).gpus[0];
    host.changeInventory(withAer('0'));
    await expect.poll(async () => (await gpu()).health.fatal_errors, POLL).toBe(0);
    const { id } = await createVm();
    host.changeInventory(withAer('1'));
    await expect
      .poll(async () => (await gpu()).problems, POLL)
      .toMatchObject([{ rule: 'aer_fatal', severity: 'block', until_released: true }]);
    host.changeInventory((inventory) => ({
      ...inventory,
      software: { ...inventory.software, os: 'another' },
    }));
    await expect.poll(async () => (await shown()).software.os, POLL).toBe('another');
    const events = async () =>
      (await cloud.call('GET', `/events?resource_id=${id}`)).body.items.filter(
        ({ type }: { type: string }) => type === 'vm_device_unhealthy',
      );
    expect(await events()).toHaveLength(1);
    expect((await cloud.call('GET', `/vms/${id}`)).body.state).toBe('STATE_RUNNING');
    await deleteVm(id);
    expect(await createVm()).toMatchObject({ state: 'FAILED' });
    const released = await operate('POST', `devices/${(await gpu()).id}:release`);
    expect(released.body.problems).toEqual([]);
    expect(await createVm()).toMatchObject({ state: 'SUCCEEDED' });
  });
});
