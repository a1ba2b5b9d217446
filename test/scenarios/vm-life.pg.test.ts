import type { SimulatedHost } from '@gantry/simulator/fleet/simulated-host';
import { type Cloud, startCloud } from '@gantry/testkit/cloud/start-cloud';
import { SSH_PUBLIC_KEY } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, expect, it } from 'vitest';

/** Every transition once, with every part of the cloud running. */
let cloud: Cloud;
let host: SimulatedHost;
beforeAll(async () => {
  cloud = await startCloud();
  await cloud.addScheduler();
  host = await cloud.addHost({ timings: { retryMs: [1, 1], failedMs: 200 } });
});
afterAll(() => cloud.stop());

type Kind = 'vms' | 'disks' | 'vpc/firewall-rules';
/** Sends a request, waits until its operation has ended and returns it. */
const done = async (kind: Kind, method: string, path: string, body?: unknown) => {
  const asked = await cloud.call(method, `/${kind}${path}`, body);
  expect(asked).toMatchObject({ status: 200 });
  const { operation_id } = asked.body.operation;
  const read = async () => (await cloud.call('GET', `/${kind}/operations/${operation_id}`)).body;
  await expect.poll(async () => (await read()).state).not.toBe('IN_PROGRESS');
  return await read();
};
const createVm = async (name: string) => {
  const operation = await done('vms', 'POST', '', {
    ...{ name, type: 'a40.1x', location: 'eu-north-a', image: 'debian-12' },
    ssh_public_key: SSH_PUBLIC_KEY,
  });
  return { operation, id: operation.metadata.id as string };
};
const vmState = async (id: string) => (await cloud.call('GET', `/vms/${id}`)).body.state;

it('a VM is created, reset, stopped, started, crashes, starts again and is deleted', async () => {
  const { id, operation } = await createVm('life');
  expect(operation).toMatchObject({ state: 'SUCCEEDED', result: { state: 'STATE_RUNNING' } });
  for (const [action, state] of [
    ['RESET', 'STATE_RUNNING'],
    ['STOP', 'STATE_SHUTOFF'],
    ['START', 'STATE_RUNNING'],
  ])
    expect(await done('vms', 'PATCH', `/${id}`, { action })).toMatchObject({
      ...{ state: 'SUCCEEDED', result: { state } },
    });
  host.driver.crashDomain(id);
  await expect.poll(() => vmState(id)).toBe('STATE_CRASHED');
  expect(await done('vms', 'PATCH', `/${id}`, { action: 'START' })).toMatchObject({
    ...{ state: 'SUCCEEDED', result: { state: 'STATE_RUNNING' } },
  });
  expect(await done('vms', 'DELETE', `/${id}`)).toMatchObject({
    state: 'SUCCEEDED',
    result: { id },
  });
  expect((await cloud.call('GET', `/vms/${id}`)).status).toBe(404);
  expect(host.driver.disks.ids()).toEqual([]);
  expect(await host.driver.devices.list()).toEqual([]);
});

it('a VM that does not reply keeps running, and operators see it until it replies', async () => {
  const { id } = await createVm('silent');
  const shown = async () =>
    (await cloud.api.call('GET', `/admin/hosts/${host.id}`, { bearer: cloud.operator })).body
      .unresponsive_vms;
  expect(await shown()).toEqual([]);
  host.driver.hypervisor.wedge(id);
  const since = expect.stringMatching(/Z$/);
  const message = `VM ${id} is unresponsive: the hypervisor did not reply`;
  await expect.poll(shown).toEqual([{ vm_id: id, message, since }]);
  expect(await vmState(id)).toBe('STATE_RUNNING');
  expect(await done('vms', 'PATCH', `/${id}`, { action: 'RESET' })).toMatchObject({
    ...{ state: 'FAILED', result: { code: 'vm_unresponsive', message } },
  });
  expect(await vmState(id)).toBe('STATE_RUNNING');
  host.driver.hypervisor.unwedge(id);
  await expect.poll(shown).toEqual([]);
  expect(await vmState(id)).toBe('STATE_RUNNING');
  await done('vms', 'DELETE', `/${id}`);
});

it('a stopped VM that is deleted leaves no disk on the host', async () => {
  const { id } = await createVm('stopped');
  await done('vms', 'PATCH', `/${id}`, { action: 'STOP' });
  expect(host.driver.disks.ids()).toHaveLength(1);
  await done('vms', 'DELETE', `/${id}`);
  expect(host.driver.disks.ids()).toEqual([]);
});

it("a creation that the host cannot perform fails with the host's reason and leaves nothing behind", async () => {
  host.driver.volumes.loseImage('debian-12');
  const { id, operation } = await createVm('no-image');
  host.driver.volumes.findImage('debian-12');
  expect(operation).toMatchObject({ state: 'FAILED', result: { code: 'image_unavailable' } });
  await expect.poll(async () => (await cloud.call('GET', `/vms/${id}`)).status).toBe(404);
});

it('a disk is attached, grown, detached and deleted, and a rule is created, changed and deleted', async () => {
  const { id } = await createVm('with-disk');
  const disk = await done('disks', 'POST', '', {
    ...{
      name: 'data',
      type: 'persistent-ssd',
      size: '10GiB',
      location: 'eu-north-a',
      block_size: 512,
    },
  });
  const diskId = disk.metadata.id;
  const attach = {
    attach_disks: [{ disk_id: diskId, mode: 'read-write', attachment_type: 'data' }],
  };
  expect(await done('vms', 'POST', `/${id}/attach-disks`, attach)).toMatchObject({
    state: 'SUCCEEDED',
  });
  expect(await done('disks', 'PATCH', `/${diskId}`, { size: '20GiB' })).toMatchObject({
    ...{ state: 'SUCCEEDED', result: { size: '20GiB' } },
  });
  const detach = { detach_disks: [diskId] };
  expect(await done('vms', 'POST', `/${id}/detach-disks`, detach)).toMatchObject({
    state: 'SUCCEEDED',
  });
  expect(await done('disks', 'DELETE', `/${diskId}`)).toMatchObject({ state: 'SUCCEEDED' });
  expect(host.driver.disks.ids()).not.toContain(diskId);

  const network = (await cloud.call('GET', '/vpc/networks')).body.items[0].id;
  const rule = await done('vpc/firewall-rules', 'POST', '', {
    ...{ name: 'web', vpc_network_id: network, direction: 'ingress', action: 'allow' },
    ...{
      protocols: ['tcp'],
      sources: [],
      destinations: [{ resource_id: id }],
      destination_ports: ['80'],
    },
  });
  expect(rule).toMatchObject({ state: 'SUCCEEDED', result: { state: 'active' } });
  const path = `/${rule.metadata.id}`;
  const inForce = () =>
    host.driver.network.firewall?.rules.find(({ id: one }) => path === `/${one}`);
  expect(inForce()).toMatchObject({ destinationPorts: ['80'] });
  await done('vpc/firewall-rules', 'PATCH', path, { destination_ports: ['443'] });
  expect(inForce()).toMatchObject({ destinationPorts: ['443'] });
  await done('vpc/firewall-rules', 'DELETE', path);
  expect(inForce()).toBeUndefined();
  await done('vms', 'DELETE', `/${id}`);
});
