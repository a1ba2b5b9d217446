import { lookAtHost } from '@gantry/simulator/fleet/host-sight';
import { type Cloud, startCloud } from '@gantry/testkit/cloud/start-cloud';
import { vmBody } from '@gantry/testkit/make/request-bodies';
import { afterAll, beforeAll, expect, it } from 'vitest';

let cloud: Cloud;
beforeAll(async () => {
  cloud = await startCloud();
  await cloud.addScheduler();
  await cloud.addHost();
});
afterAll(() => cloud.stop());

/** Sends a request that starts an operation, waits for its end and returns the id of the VM. */
async function finish(method: string, path: string, body?: unknown): Promise<string> {
  const { operation } = (await cloud.call(method, path, body)).body;
  const ended = () => cloud.call('GET', `/vms/operations/${operation.operation_id}`);
  await expect.poll(async () => (await ended()).body.state, { timeout: 60_000 }).toBe('SUCCEEDED');
  return operation.metadata.id;
}

const createVm = (public_ipv4: object) =>
  finish('POST', '/vms', vmBody({ network_interfaces: [{ public_ipv4 }] }));
const power = (vmId: string, action: 'START' | 'STOP') =>
  finish('PATCH', `/vms/${vmId}`, { action });
/** The public addresses that agents have given to interfaces on their hosts, by VM. */
const onHosts = () =>
  new Map(
    cloud.hosts
      .flatMap((host) => lookAtHost(host).interfaces)
      .map(({ vmId, iface }) => [vmId, iface.publicIpv4]),
  );

it('a reserved address stays with its project through STOP, START, DELETE and a new VM', async () => {
  await cloud.sql`insert into public_addresses (id, location, address) values
    (gen_random_uuid(), 'eu-north-a', '203.0.113.1'), (gen_random_uuid(), 'eu-north-a', '203.0.113.2')`;
  const body = { name: 'front', location: 'eu-north-a' };
  const { id, address } = (await cloud.call('POST', '/vpc/public-addresses', body)).body;
  const first = await createVm({ type: 'reserved', id });
  expect(onHosts().get(first)).toBe(address);

  await power(first, 'STOP');
  const other = await createVm({ type: 'dynamic' });
  const none = await createVm({ type: 'dynamic' });
  expect(onHosts().get(other)).not.toBe(address);
  expect(onHosts().get(none)).toBe('');
  await power(first, 'START');
  expect(onHosts().get(first)).toBe(address);

  await finish('DELETE', `/vms/${first}`);
  const second = await createVm({ type: 'reserved', id });
  expect(onHosts().get(second)).toBe(address);
});

it('a VM that had a dynamic address starts with the reserved one that was attached meanwhile', async () => {
  await cloud.sql`insert into public_addresses (id, location, address) values
    (gen_random_uuid(), 'eu-north-a', '203.0.113.11'), (gen_random_uuid(), 'eu-north-a', '203.0.113.12')`;
  const body = { name: 'moved', location: 'eu-north-a' };
  const { id, address } = (await cloud.call('POST', '/vpc/public-addresses', body)).body;
  const vmId = await createVm({ type: 'dynamic' });
  expect(onHosts().get(vmId)).not.toBe(address);
  await power(vmId, 'STOP');
  await finish('POST', `/vms/${vmId}/attach-public-address`, { address_id: id });
  await power(vmId, 'START');
  expect(onHosts().get(vmId)).toBe(address);
  await power(vmId, 'STOP');
  await finish('POST', `/vms/${vmId}/detach-public-address`, { address_id: id });
  await power(vmId, 'START');
  expect(onHosts().get(vmId)).not.toBe(address);
});
