import type { SimulatedHost } from '@gantry/simulator/fleet/simulated-host';
import { type Cloud, startCloud } from '@gantry/testkit/cloud/start-cloud';
import { SSH_PUBLIC_KEY } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, expect, it } from 'vitest';

let cloud: Cloud;
let host: SimulatedHost;
beforeAll(async () => {
  cloud = await startCloud();
  await cloud.addScheduler();
  host = await cloud.addHost({ gpus: 1 });
});
afterAll(async () => {
  host?.driver.faults.clear();
  await cloud.stop();
});

/** Sends a request. Returns the ids of its operation and of the VM. */
const ask = async (method: string, path: string, body?: unknown) => {
  const asked = await cloud.call(method, `/vms${path}`, body);
  expect(asked).toMatchObject({ status: 200 });
  const { operation_id: operationId, metadata } = asked.body.operation;
  return { operationId: operationId as string, id: metadata.id as string };
};
const createVm = (name: string) =>
  ask('POST', '', {
    ...{ name, type: 'a40.1x', location: 'eu-north-a', image: 'debian-12' },
    ssh_public_key: SSH_PUBLIC_KEY,
  });
const stateOf = async (operationId: string) =>
  (await cloud.call('GET', `/vms/operations/${operationId}`)).body.state;
const receiptKinds = async (): Promise<string[]> => {
  const { items } = (await cloud.call('GET', '/device-receipts')).body;
  return items.map(({ kind }: { kind: string }) => kind).sort();
};
const gpusOf = async (vmId: string) =>
  (await host.driver.devices.list())
    .filter((device) => device.vmId === vmId && device.kind === 'gpu')
    .map(({ address }) => address);

it('the GPU of a deleted VM is in a new VM while the drive of the old VM is still being erased', async () => {
  const old = await createVm('old');
  await expect.poll(() => stateOf(old.operationId)).toBe('SUCCEEDED');
  const gpus = await gpusOf(old.id);
  expect(gpus).toHaveLength(1);

  host.driver.faults.hang('erase_drive');
  const removal = await ask('DELETE', `/${old.id}`);
  await expect.poll(receiptKinds).toEqual(['gpu']);
  const next = await createVm('next');
  await expect.poll(() => stateOf(next.operationId)).toBe('SUCCEEDED');
  expect(await gpusOf(next.id)).toEqual(gpus);
  expect(host.driver.faults.hangingIn('erase_drive')).toBeGreaterThan(0);
  expect(await stateOf(removal.operationId)).toBe('IN_PROGRESS');

  host.driver.faults.unhang('erase_drive');
  await expect.poll(() => stateOf(removal.operationId)).toBe('SUCCEEDED');
  expect(await gpusOf(next.id)).toEqual(gpus);
  expect(await receiptKinds()).toEqual(['drive', 'gpu']);
});
