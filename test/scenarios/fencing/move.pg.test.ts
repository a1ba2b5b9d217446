import { fenceHosts } from '@gantry/scheduler/fencing/fence-hosts';
import { placePending } from '@gantry/scheduler/place/place-pending';
import { endOverdueOperations } from '@gantry/scheduler/settle/end-overdue';
import { type Cloud, startCloud } from '@gantry/testkit/cloud/start-cloud';
import { holdLocation, makePlacer } from '@gantry/testkit/make/placers';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { VolumeWorld } from './volume-world.ts';

let cloud: Cloud;
let world: VolumeWorld;
beforeAll(async () => {
  cloud = await startCloud();
  world = new VolumeWorld(cloud);
  await world.begin();
});
afterAll(() => cloud.stop());
beforeEach(() => cloud.sql`update hosts set admin_state = 'cordoned'`);

const move = (vmId: string, body: object = {}) =>
  cloud.api.call('POST', `/admin/vms/${vmId}:move`, { bearer: cloud.operator, body });
const place = async () => placePending(makePlacer(cloud.sql, await holdLocation(cloud.sql)));
const hostOf = async (vmId: string) =>
  (await cloud.sql`select host_id from placements where vm_id = ${vmId}`)[0]?.['host_id'];
const lastEvent = async (vmId: string) =>
  (await cloud.sql`select type, message from events where resource_id = ${vmId} order by id`).at(
    -1,
  );
const openIntervals = async (vmId: string) =>
  (await cloud.sql`select from meter_intervals where resource_id = ${vmId} and ended_at is null`)
    .length;
const makeKey = (diskId: string) =>
  cloud.sql`insert into volume_keys (entity, disk_id, pool_id, sealed_key)
    values (${`gantry-next-${diskId}`}, ${diskId}, ${world.poolId}, 'sealed')`;

it('a moved VM is taken down, starts on the chosen host, and its tenant gets the notice of the operator', async () => {
  const from = await world.addHost();
  const vm = await world.runVm(from);
  await world.addHost();
  const to = await world.addHost();
  await world.addHost();
  const reply = await move(vm.vmId, { host_id: to.id, notice: 'Row 7 gets new power supplies.' });
  expect(reply).toMatchObject({
    status: 200,
    body: { operation: { metadata: { operation_name: 'MOVE' } } },
  });
  const operationId = reply.body.operation.operation_id;
  expect(await cloud.vmState(vm.vmId)).toBe('STATE_STARTING');
  expect(await lastEvent(vm.vmId)).toMatchObject({
    type: 'vm_moving',
    message: 'Row 7 gets new power supplies.',
  });
  expect(await openIntervals(vm.vmId)).toBe(0);
  expect(await move(vm.vmId)).toMatchObject({
    status: 409,
    body: { code: 'operation_in_progress' },
  });
  expect(await place()).toMatchObject({ placed: 0 });
  await from.obey();
  expect(await hostOf(vm.vmId)).toBeUndefined();
  await makeKey(vm.diskId);
  expect(await place()).toMatchObject({ placed: 1 });
  expect(await hostOf(vm.vmId)).toBe(to.id);
  expect(await cloud.operation(operationId)).toMatchObject({ state: 'IN_PROGRESS' });
  const audit = await cloud.sql`select from audit_logs
    where action = 'admin-vms.move' and resource_id = ${vm.vmId}`;
  expect(audit.length).toBeGreaterThan(0);
});

it('a VM with a disk on its host, or without another host that fits, is not moved and goes on running', async () => {
  const host = await world.addHost();
  const local = await cloud.runVm(host);
  expect(await move(local)).toMatchObject({ status: 409, body: { code: 'conflict' } });
  const vm = await world.runVm(host);
  const refused = await move(vm.vmId);
  expect(refused).toMatchObject({ status: 409, body: { code: 'conflict' } });
  expect(JSON.stringify(refused.body)).toContain('other_host');
  expect(await move(vm.vmId, { host_id: host.id })).toMatchObject({ status: 409 });
  expect(await move(vm.vmId, { host_id: vm.vmId })).toMatchObject({ status: 404 });
  expect(await move(host.id)).toMatchObject({ status: 404 });
  for (const vmId of [local, vm.vmId]) expect(await cloud.vmState(vmId)).toBe('STATE_RUNNING');
  expect(await openIntervals(vm.vmId)).toBe(1);
});

it('a VM that fits nowhere else after it was taken down goes back to its host', async () => {
  const from = await world.addHost();
  const vm = await world.runVm(from);
  const to = await world.addHost();
  expect(await move(vm.vmId)).toMatchObject({ status: 200 });
  await from.obey();
  await cloud.sql`update hosts set admin_state = 'cordoned' where id = ${to.id}`;
  await makeKey(vm.diskId);
  expect(await place()).toMatchObject({ placed: 1 });
  expect(await hostOf(vm.vmId)).toBe(from.id);
});

it('a VM that fits nowhere after it was taken down is SHUTOFF, and the move has failed', async () => {
  const from = await world.addHost();
  const vm = await world.runVm(from);
  await world.addHost();
  const { body } = await move(vm.vmId);
  await from.obey();
  await cloud.sql`update hosts set admin_state = 'cordoned'`;
  await makeKey(vm.diskId);
  expect(await place()).toMatchObject({ placed: 0 });
  expect(await cloud.vmState(vm.vmId)).toBe('STATE_SHUTOFF');
  expect(await cloud.operation(body.operation.operation_id)).toMatchObject({ state: 'FAILED' });
});

it('a move whose host dies meanwhile goes on after the host is fenced', async () => {
  const from = await world.addHost();
  const vm = await world.runVm(from);
  const to = await world.addHost();
  const { body } = await move(vm.vmId);
  await world.declareDead(from);
  await fenceHosts({ ...cloud, clusters: world.clusters });
  await makeKey(vm.diskId);
  expect(await place()).toMatchObject({ placed: 1 });
  expect(await hostOf(vm.vmId)).toBe(to.id);
  expect(await cloud.operation(body.operation.operation_id)).toMatchObject({
    state: 'IN_PROGRESS',
  });
});

it('a move that takes too long fails, and the VM can be started', async () => {
  const from = await world.addHost();
  const vm = await world.runVm(from);
  await world.addHost();
  const { body } = await move(vm.vmId);
  await cloud.sql`update operations set deadline_at = now() - interval '1 second'
    where id = ${body.operation.operation_id}`;
  await endOverdueOperations(cloud);
  expect(await cloud.operation(body.operation.operation_id)).toMatchObject({ state: 'FAILED' });
  expect(await cloud.vmState(vm.vmId)).toBe('STATE_ERROR');
});
