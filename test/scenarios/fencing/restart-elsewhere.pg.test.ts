import { fenceHosts } from '@gantry/scheduler/fencing/fence-hosts';
import { fenceLostHosts } from '@gantry/scheduler/fencing/fence-lost-hosts';
import { placePending } from '@gantry/scheduler/place/place-pending';
import { type Cloud, startCloud } from '@gantry/testkit/cloud/start-cloud';
import { holdLocation, makePlacer } from '@gantry/testkit/make/placers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { VolumeWorld } from './volume-world.ts';

let cloud: Cloud;
let world: VolumeWorld;
beforeAll(async () => {
  cloud = await startCloud();
  world = new VolumeWorld(cloud);
  await world.begin();
});
afterAll(() => cloud.stop());
/** Hosts of earlier tests take no VMs and count for no policy. */
beforeEach(() => cloud.sql`update hosts set admin_state = 'cordoned'`);

const fence = () => fenceHosts({ ...cloud, clusters: world.clusters });
const place = async () => placePending(makePlacer(cloud.sql, await holdLocation(cloud.sql)));
const events = async (vmId: string) =>
  (await cloud.sql`select type from events where resource_id = ${vmId} order by id`).map(
    ({ type }) => type,
  );
const hostOf = async (vmId: string) =>
  (await cloud.sql`select host_id from placements where vm_id = ${vmId}`)[0]?.['host_id'];
const claims = async (vmId: string) =>
  (await cloud.sql`select device_id from device_claims where vm_id = ${vmId}`).map(
    ({ device_id }) => device_id,
  );
const openIntervals = async (vmId: string) =>
  (await cloud.sql`select from meter_intervals where resource_id = ${vmId} and ended_at is null`)
    .length;
/** A new key for the next host, as the scheduler makes it. */
const makeKey = (diskId: string) =>
  cloud.sql`insert into volume_keys (entity, disk_id, pool_id, sealed_key)
    values (${`gantry-next-${diskId}`}, ${diskId}, ${world.poolId}, 'sealed')`;

describe('a VM whose host was fenced', () => {
  it('with on_host_failure restart runs on another host with other devices, and its tenant gets one event', async () => {
    const dead = await world.addHost();
    const vm = await world.runVm(dead, 'restart');
    const before = await claims(vm.vmId);
    await world.declareDead(dead);
    expect(await events(vm.vmId)).toEqual(['vm_unreachable']);
    await fence();
    expect(await cloud.vmState(vm.vmId)).toBe('STATE_STARTING');
    expect(await events(vm.vmId)).toEqual(['vm_unreachable', 'vm_restarted_elsewhere']);
    expect(await openIntervals(vm.vmId)).toBe(0);
    const next = await world.addHost();
    await makeKey(vm.diskId);
    expect(await place()).toMatchObject({ placed: 1 });
    expect(await hostOf(vm.vmId)).toBe(next.id);
    expect((await claims(vm.vmId)).filter((id) => before.includes(id))).toEqual([]);
    await cloud.sql`update vms set observed_state = 'running', observed_generation = generation where id = ${vm.vmId}`;
    expect(await cloud.vmState(vm.vmId)).toBe('STATE_RUNNING');
    expect(() => vm.client.write('late')).toThrow('fenced');
  });

  it('with leave, or with a disk that only its host stored, is CRASHED', async () => {
    const dead = await world.addHost();
    const left = await world.runVm(dead, 'leave');
    const local = await cloud.runVm(dead);
    await cloud.sql`update vms set on_host_failure = 'restart' where id = ${local}`;
    await world.declareDead(dead);
    await fence();
    for (const vmId of [left.vmId, local]) {
      expect(await cloud.vmState(vmId)).toBe('STATE_CRASHED');
      expect(await events(vmId)).toEqual(['vm_unreachable', 'vm_host_fenced']);
    }
  });

  it('that was stopped or had crashed is not restarted', async () => {
    const dead = await world.addHost();
    const crashed = await world.runVm(dead, 'restart');
    const stopping = await world.runVm(dead, 'restart');
    await cloud.sql`update vms set observed_state = 'crashed' where id = ${crashed.vmId}`;
    await cloud.request('PATCH', `/vms/${stopping.vmId}`, { action: 'STOP' });
    await world.declareDead(dead);
    await fence();
    expect(await cloud.vmState(crashed.vmId)).toBe('STATE_CRASHED');
    expect(await cloud.vmState(stopping.vmId)).toBe('STATE_SHUTOFF');
  });

  it('goes on with a START that was unfinished', async () => {
    const dead = await world.addHost();
    const vm = await world.runVm(dead, 'restart');
    const { operationId } = await cloud.request('PATCH', `/vms/${vm.vmId}`, { action: 'RESET' });
    await world.declareDead(dead);
    await fence();
    expect(await cloud.operation(operationId)).toMatchObject({ state: 'IN_PROGRESS' });
    expect(await cloud.vmState(vm.vmId)).toBe('STATE_STARTING');
  });

  it('that fits on no other host is CRASHED, and its tenant is told', async () => {
    const dead = await world.addHost();
    const vm = await world.runVm(dead, 'restart');
    await world.declareDead(dead);
    await fence();
    await makeKey(vm.diskId);
    expect(await place()).toMatchObject({ placed: 0 });
    expect(await cloud.vmState(vm.vmId)).toBe('STATE_CRASHED');
    expect((await events(vm.vmId)).at(-1)).toBe('vm_lost');
  });

  it('waits for the fence before it starts elsewhere, while the cluster does not reply', async () => {
    const dead = await world.addHost();
    const vm = await world.runVm(dead, 'restart');
    await world.declareDead(dead);
    world.cluster.setNetwork('down');
    await fence();
    await world.addHost();
    expect(await place()).toMatchObject({ placed: 0 });
    expect(await cloud.vmState(vm.vmId)).toBe('STATE_UNREACHABLE');
    vm.client.write('its host lives, and the disk is still its own');
    world.cluster.setNetwork('up');
    await fence();
    await makeKey(vm.diskId);
    expect(await place()).toMatchObject({ placed: 1 });
  });
});

describe('the policy for lost hosts', () => {
  const steadyMs = Number.POSITIVE_INFINITY;
  const policy = { afterMs: 60_000, mostLost: 1 };
  const apply = (changes: Partial<Parameters<typeof fenceLostHosts>[0]> = {}) =>
    fenceLostHosts({ ...cloud, policy, locations: ['eu-north-a'], steadyMs, ...changes });
  const isFenced = async (host: { id: string }) => (await world.hostView(host)).fenced_at !== '';

  it('fences a host that was lost for long enough and from which a VM restarts', async () => {
    const lost = await world.addHost();
    await world.runVm(lost, 'restart');
    await apply();
    expect(await isFenced(lost)).toBe(false);
    await world.lose(lost);
    await apply({ policy: { ...policy, afterMs: null } });
    await apply({ policy: { ...policy, afterMs: 180_000 } });
    await apply({ locations: ['us-west-a'] });
    await apply({ steadyMs: 59_000 });
    expect(await isFenced(lost)).toBe(false);
    await apply();
    expect(await isFenced(lost)).toBe(true);
    const [revoked] = await cloud.sql`select count(*)::int as count from host_certificates
      where host_id = ${lost.id} and revoked_at is null`;
    expect(revoked).toMatchObject({ count: 0 });
  });

  it('fences none if more hosts of the location are lost than it allows', async () => {
    const [one, two] = [await world.addHost(), await world.addHost()];
    await world.runVm(one, 'restart');
    await world.runVm(two, 'restart');
    await world.lose(one);
    await world.lose(two);
    await apply();
    expect([await isFenced(one), await isFenced(two)]).toEqual([false, false]);
    await apply({ policy: { ...policy, mostLost: 2 } });
    expect([await isFenced(one), await isFenced(two)]).toEqual([true, true]);
  });

  it('fences no host that stores a disk alone, or from which no VM restarts', async () => {
    const [local, left] = [await world.addHost(), await world.addHost()];
    await world.runVm(local, 'restart');
    await cloud.runVm(local);
    await world.runVm(left, 'leave');
    await world.lose(local);
    await world.lose(left);
    await apply({ policy: { ...policy, mostLost: 10 } });
    expect([await isFenced(local), await isFenced(left)]).toEqual([false, false]);
  });
});
