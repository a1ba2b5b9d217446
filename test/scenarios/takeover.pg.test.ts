import { type Cloud, startCloud } from '@gantry/testkit/cloud/start-cloud';
import { SSH_PUBLIC_KEY } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, expect, it } from 'vitest';

let cloud: Cloud;
beforeAll(async () => {
  cloud = await startCloud();
});
afterAll(() => cloud.stop());

const createVm = async (name: string) =>
  (
    await cloud.call('POST', '/vms', {
      ...{ name, type: 'a40.1x', location: 'eu-north-a', image: 'debian-12' },
      ssh_public_key: SSH_PUBLIC_KEY,
    })
  ).body.operation.metadata.id as string;
const vmState = async (id: string) => (await cloud.call('GET', `/vms/${id}`)).body.state;

it('hosts attach to another scheduler when theirs is gone, and a scheduler that lost its hosts releases them', async () => {
  const first = await cloud.addScheduler();
  const host = await cloud.addHost();
  const id = await createVm('before');
  await expect.poll(() => vmState(id)).toBe('STATE_RUNNING');
  await first.stop();
  cloud.schedulers.splice(0, 1);
  const second = await cloud.addScheduler();
  await expect.poll(() => second.attachedCount()).toBe(1);
  // It was unreachable if attaching took long. No VM is placed on it until it is ready again.
  const state = async () =>
    (await cloud.sql`select state from hosts where id = ${host.id}`)[0]?.['state'];
  await expect.poll(state).toBe('ready');
  const during = await createVm('after');
  await expect.poll(() => vmState(during)).toBe('STATE_RUNNING');
  expect(await vmState(id)).toBe('STATE_RUNNING');

  const epoch = async () =>
    Number(
      (await cloud.sql`select stream_epoch from hosts where id = ${host.id}`)[0]?.['stream_epoch'],
    );
  const before = await epoch();
  // Another scheduler does this to one that was paused for too long.
  await cloud.sql`with gone as (delete from schedulers where id = ${second.id})
    update hosts set scheduler_id = null, last_seen_at = now() where scheduler_id = ${second.id}`;
  await expect.poll(epoch).toBeGreaterThan(before);
  await expect
    .poll(() => cloud.sql`select from hosts where scheduler_id = ${second.id}`)
    .toHaveLength(1);
});

it('an agent that is killed while it builds a VM finishes it after a restart', async () => {
  const [host] = cloud.hosts;
  if (!host) throw new Error('BUG: there is a host');
  host.driver.faults.hang('create_disk');
  const id = await createVm('interrupted');
  await expect.poll(() => host.driver.faults.hangingIn('create_disk')).toBe(1);
  host.kill();
  host.driver.faults.unhang('create_disk');
  await expect.poll(() => vmState(id)).toBe('STATE_UNREACHABLE');
  await host.start();
  await expect.poll(() => vmState(id)).toBe('STATE_RUNNING');
});
