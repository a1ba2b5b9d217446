import type { Client } from '@gantry/testkit/processes/client';
import { expect } from 'vitest';

/** Sends a request and expects that its operation succeeds. Returns the id of its resource. */
async function succeeds(
  client: Client,
  method: string,
  path: string,
  body?: object,
): Promise<string> {
  const ended = await client.ended(await client.open(method, path, body));
  expect(ended, `${method} ${path}`).toMatchObject({ state: 'SUCCEEDED' });
  return ended.metadata.id;
}

export async function createVm(client: Client, name: string): Promise<string> {
  const ended = await client.ended(await client.createVm({ name }));
  expect(ended).toMatchObject({ state: 'SUCCEEDED', result: { state: 'STATE_RUNNING' } });
  return ended.metadata.id;
}

/** Performs every action on a running VM, its disks and its firewall rules, and deletes all of them. */
export async function liveToTheEnd(client: Client, vmId: string): Promise<void> {
  const vm = `/vms/${vmId}`;
  const diskId = await succeeds(client, 'POST', '/disks', {
    ...{ name: `disk-${vmId}`, type: 'persistent-ssd', size: '10GiB', location: 'eu-north-a' },
    block_size: 512,
  });
  const attachment = { disk_id: diskId, mode: 'read-write', attachment_type: 'data' };
  await succeeds(client, 'POST', `${vm}/attach-disks`, { attach_disks: [attachment] });
  await succeeds(client, 'PATCH', `/disks/${diskId}`, { size: '20GiB' });
  const networks = await client.call('GET', '/vpc/networks');
  const ruleId = await succeeds(client, 'POST', '/vpc/firewall-rules', {
    ...{ name: `rule-${vmId}`, vpc_network_id: networks.body.items[0].id },
    ...{ direction: 'ingress', action: 'allow', protocols: ['tcp'], sources: [] },
    ...{ destinations: [{ resource_id: vmId }], destination_ports: ['80'] },
  });
  for (const action of ['RESET', 'STOP', 'START']) await succeeds(client, 'PATCH', vm, { action });
  expect(await client.stateOf(vmId)).toBe('STATE_RUNNING');
  await succeeds(client, 'DELETE', `/vpc/firewall-rules/${ruleId}`);
  await succeeds(client, 'POST', `${vm}/detach-disks`, { detach_disks: [diskId] });
  await succeeds(client, 'DELETE', `/disks/${diskId}`);
  await succeeds(client, 'DELETE', vm);
  expect(await client.stateOf(vmId)).toBe('404');
}
