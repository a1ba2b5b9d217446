import { readHostSpecs } from '@gantry/db/queries/hosts/host-specs';
import { refusal } from '@gantry/testkit/api/read-errors';
import { finishVm } from '@gantry/testkit/make/finished';
import { addHost } from '@gantry/testkit/make/hosts';
import { placeVm, unplaceVms } from '@gantry/testkit/make/placements';
import { vmBody } from '@gantry/testkit/make/request-bodies';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { settleFreezes } from '../../settle/settle-freezes.ts';
import { makeStorageWorld, POOL, type StorageWorld } from '../testing/storage-world.ts';

let world: StorageWorld;
let hostId: string;
let vmId: string;
let diskId: string;

beforeAll(async () => {
  world = await makeStorageWorld();
});
afterAll(() => world?.api.stop());

beforeEach(async () => {
  const { sql } = world.api;
  hostId = (await addHost(sql)).id;
  const software = { software: { capabilities: ['guest_freezes'] } };
  await sql`update hosts set inventory = ${sql.json(software)} where id = ${hostId}`;
  diskId = await world.makeDisk('content');
  const vm = await world.begin('POST', '/vms', vmBody({ disks: [{ disk_id: diskId }] }));
  vmId = vm.resourceId;
  await placeVm(sql, { vmId, hostId });
  await finishVm(sql, vmId, 'running');
});

let made = 0;
const begin = () =>
  world.begin('POST', '/snapshots', { name: `frozen-${made++}`, disk_id: diskId, freeze: true });
const read = async (snapshotId: string) =>
  (await world.call('GET', `/snapshots/${snapshotId}`)).body;
const inCluster = async () =>
  (await world.cluster.readVolume({ pool: POOL, name: diskId }))?.snapshots;
const orders = async () =>
  (await readHostSpecs(world.api.sql, [hostId])).flatMap(({ freezes }) => freezes);
const numberOf = async () => (await readHostSpecs(world.api.sql, [hostId]))[0]?.number;

type State = 'FROZEN' | 'RELEASED' | 'EXPIRED' | 'FAILED';
const report = (id: string, state: State, from = hostId) =>
  settleFreezes(world.api.sql, {
    hostId: from,
    report: {
      freezes: [
        {
          ...{ id, state: `FREEZE_STATE_${state}` as const },
          failure: state === 'FAILED' ? { code: 'x', message: 'no agent', sinceMs: '1' } : null,
        },
      ],
    },
  });

it('a snapshot of a running guest is made while it is frozen, and is ready after it was thawed', async () => {
  const before = await numberOf();
  const { id, resourceId } = await begin();
  expect(await orders()).toEqual([{ id: resourceId, vm_id: vmId, release: false }]);
  expect(await numberOf()).not.toBe(before);
  await world.carryOut();
  expect(await inCluster()).toEqual([]);
  await report(resourceId, 'FROZEN');
  await world.carryOut();
  expect(await inCluster()).toEqual([resourceId]);
  expect([(await read(resourceId)).state, await orders()]).toEqual([
    'creating',
    [{ id: resourceId, vm_id: vmId, release: true }],
  ]);
  await report(resourceId, 'RELEASED');
  await world.carryOut();
  expect(await read(resourceId)).toMatchObject({ state: 'ready', problem: '' });
  expect((await world.operation(id)).state).toBe('SUCCEEDED');
  expect(await orders()).toEqual([]);
});

it.each([
  ['could not be frozen', ['FAILED'], 'no agent'],
  ['was thawed before', ['FROZEN', 'EXPIRED'], 'thawed'],
  ['was thawed while the snapshot was made', ['FROZEN', 'take', 'EXPIRED'], 'thawed'],
])('a snapshot of a guest that %s is discarded, and its operation fails', async (_, steps, why) => {
  const { id, resourceId } = await begin();
  for (const step of steps) {
    if (step === 'take') await world.carryOut();
    else await report(resourceId, step as State);
  }
  await world.carryOut();
  expect(await inCluster()).toEqual([]);
  expect(await world.operation(id)).toMatchObject({
    ...{
      state: 'FAILED',
      result: { code: 'freeze_failed', message: expect.stringContaining(why) },
    },
  });
  expect(await read(resourceId)).toMatchObject({
    ...{ state: 'failed', problem: expect.stringContaining(why) },
  });
  expect(await orders()).toEqual([]);
});

it('a late, repeated or foreign report changes nothing', async () => {
  const other = (await addHost(world.api.sql)).id;
  const { resourceId } = await begin();
  await report(resourceId, 'FROZEN', other);
  await report(resourceId, 'RELEASED');
  expect(await orders()).toMatchObject([{ release: false }]);
  await report(resourceId, 'FROZEN');
  await world.carryOut();
  await report(resourceId, 'FROZEN');
  expect(await orders()).toMatchObject([{ release: true }]);
  await report(resourceId, 'RELEASED');
  await report(resourceId, 'EXPIRED');
  await world.carryOut();
  expect((await read(resourceId)).state).toBe('ready');
});

it('a scheduler that dies after the cluster has the snapshot leaves it to the next one', async () => {
  const { resourceId } = await begin();
  await report(resourceId, 'FROZEN');
  await world.cluster.createSnapshot({ pool: POOL, name: diskId, snapshot: resourceId });
  await world.carryOut();
  await report(resourceId, 'RELEASED');
  await world.carryOut();
  expect((await read(resourceId)).state).toBe('ready');
});

it('the operation fails soon if the VM loses its host, or the agent there cannot freeze guests', async () => {
  const { sql } = world.api;
  const first = await begin();
  await report(first.resourceId, 'FROZEN');
  await world.carryOut();
  await sql`update hosts set inventory = '{"software": {"capabilities": []}}' where id = ${hostId}`;
  await world.carryOut();
  expect((await world.operation(first.id)).result.code).toBe('freeze_failed');
  expect(await inCluster()).toEqual([]);
  const second = await begin();
  await unplaceVms(sql, [vmId]);
  await world.carryOut();
  expect((await world.operation(second.id)).result.code).toBe('freeze_failed');
});

it('there is nothing to freeze without a guest that writes, and a guest that starts cannot be frozen', async () => {
  const { sql } = world.api;
  await sql`update vms set generation = generation + 1, power_action = 'RESET' where id = ${vmId}`;
  const body = { name: 'refused', disk_id: diskId, freeze: true };
  expect(refusal(await world.call('POST', '/snapshots', body))).toEqual([409, 'conflict']);
  await sql`update vms set observed_state = 'stopped', desired_state = 'stopped',
    observed_generation = generation where id = ${vmId}`;
  const { resourceId } = await begin();
  await world.carryOut();
  expect((await read(resourceId)).state).toBe('ready');
  diskId = await world.makeDisk('alone');
  const alone = await begin();
  await world.carryOut();
  expect((await read(alone.resourceId)).state).toBe('ready');
});
