import { type Cloud, startCloud } from '@gantry/testkit/cloud/start-cloud';
import { SSH_PUBLIC_KEY } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, expect, it } from 'vitest';

let cloud: Cloud;
beforeAll(async () => {
  cloud = await startCloud();
  await cloud.addScheduler();
  await cloud.addHost();
});
afterAll(() => cloud.stop());

it('a VM that is created runs on a host, with addresses, disks and a serial log', async () => {
  const { body } = await cloud.call('POST', '/vms', {
    ...{ name: 'one', type: 'a40.1x', location: 'eu-north-a', image: 'debian-12' },
    ssh_public_key: SSH_PUBLIC_KEY,
  });
  const operation = body.operation;
  const ended = () => cloud.call('GET', `/vms/operations/${operation.operation_id}`);
  await expect.poll(async () => (await ended()).body.state).not.toBe('IN_PROGRESS');
  const after = (await ended()).body;
  expect(after).toMatchObject({ state: 'SUCCEEDED', result: { state: 'STATE_RUNNING' } });
  expect(after.result.network_interfaces[0].ips[0].private_ipv4.address).toMatch(/^172\.27\./);
  const log = () => cloud.call('GET', `/vms/${operation.metadata.id}/serial-log`);
  await expect.poll(async () => (await log()).body.serial_log).toContain('login');
});
