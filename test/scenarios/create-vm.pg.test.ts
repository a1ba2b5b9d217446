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

/** Creates a VM, waits for the end of the operation and returns the VM. */
async function createVm(fields = {}) {
  const { body } = await cloud.call('POST', '/vms', vmBody(fields));
  const ended = () => cloud.call('GET', `/vms/operations/${body.operation.operation_id}`);
  await expect.poll(async () => (await ended()).body.state).not.toBe('IN_PROGRESS');
  const after = (await ended()).body;
  expect(after).toMatchObject({ state: 'SUCCEEDED', result: { state: 'STATE_RUNNING' } });
  return after.result;
}

it('a VM that is created runs on a host, with addresses, disks and a serial log', async () => {
  const vm = await createVm();
  expect(vm.network_interfaces[0].ips[0].private_ipv4.address).toMatch(/^172\.27\./);
  const log = () => cloud.call('GET', `/vms/${vm.id}/serial-log`);
  await expect.poll(async () => (await log()).body.serial_log).toContain('login');
});

it('a VM joins the network that it names, with a public address only if it wants one', async () => {
  const place = { location: 'eu-north-a', cidr: '10.9.0.0/24' };
  const network = await cloud.call('POST', '/vpc/networks', { name: 'own', cidr: '10.9.0.0/16' });
  const vpc_network_id = network.body.id;
  await cloud.call('POST', '/vpc/subnets', { name: 'own', vpc_network_id, ...place });
  await cloud.sql`insert into public_addresses (id, location, address)
    select gen_random_uuid(), 'eu-north-a', '203.0.113.0'::inet + n from generate_series(1, 2) n`;
  for (const [type, address] of [
    ['none', /^$/],
    ['dynamic', /^203\.0\.113\./],
  ] as const) {
    const vm = await createVm({
      network_interfaces: [{ network_id: vpc_network_id, public_ipv4: { type } }],
    });
    const [{ private_ipv4, public_ipv4 }] = vm.network_interfaces[0].ips;
    expect(private_ipv4.address).toMatch(/^10\.9\.0\./);
    expect(public_ipv4).toMatchObject({ type, address: expect.stringMatching(address) });
    expect(vm.ssh_destination).toBe(public_ipv4.address || private_ipv4.address);
  }
});
