import { diskBody, LOCATION } from '@gantry/testkit/make/request-bodies';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  attachDisk,
  expectDescribed,
  expectFieldRefused,
  expectOptional,
  expectRefusal,
  expectRequired,
  type Fields,
  makeDisk,
  makeVm,
  membersOf,
  operationOf,
  readOpenApi,
  startWorld,
  type World,
} from './support.ts';

let world: World;

beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.api.stop());

const send = (body: Fields) => world.post(`${world.P}/disks`, body);
/** Creates a disk with this request and reads it back. */
const created = async (body: Fields): Promise<Fields> => {
  const { metadata } = operationOf(await send(body));
  return (await world.get(`${world.P}/disks/${metadata.id}`)).body;
};

describe('docs/contract/disks.md#create-a-disk', () => {
  const required = (field: string) => expectRequired({ send, body: diskBody(), field, wrong: [7] });

  it('name is required, a string', async () => {
    await required('name');
    expect(await created(diskBody({ name: 'as-asked' }))).toMatchObject({ name: 'as-asked' });
  });
  it('size is required, a number with GiB or TiB', async () => {
    await required('size');
    for (const size of ['1GiB', '500GiB', '2TiB']) {
      expect(await created(diskBody({ size }))).toMatchObject({ size });
    }
    for (const size of ['500', '500GB', '500 GiB', '500gib', 'GiB', '1.5TiB', '-1GiB', '']) {
      expectFieldRefused(await send(diskBody({ size })), 'size');
    }
  });
  it('location is required, a string', async () => {
    await required('location');
    expect(await created(diskBody())).toMatchObject({ location: LOCATION });
    expectRefusal(await send(diskBody({ location: 'nowhere' })), 422, 'unknown_location');
  });
  it('block_size is optional, 512 or 4096', async () => {
    const body = diskBody({ block_size: 512 });
    await expectOptional({ send, body, field: 'block_size', wrong: '512' });
    for (const block_size of [512, 4096]) {
      expect(await created(diskBody({ block_size }))).toMatchObject({ block_size });
    }
    for (const block_size of [0, 1024, 511.5]) {
      expectFieldRefused(await send(diskBody({ block_size })), 'block_size');
    }
  });
  it('type is optional, persistent-ssd (default) or shared-volume', async () => {
    await expectOptional({
      send,
      body: diskBody({ type: 'persistent-ssd' }),
      field: 'type',
      wrong: 7,
    });
    expect(await created(diskBody())).toMatchObject({ type: 'persistent-ssd' });
    expect(await created(diskBody({ type: 'shared-volume' }))).toMatchObject({
      type: 'shared-volume',
    });
    expectFieldRefused(await send(diskBody({ type: 'hdd' })), 'type');
  });
  it('the OpenAPI document describes the same body', async () =>
    expectDescribed(await readOpenApi(world.api), 'CreateDisk', {
      required: { name: 'string', size: 'string', location: 'string' },
      optional: {
        block_size: 'integer',
        type: 'string',
        tags: 'object',
        snapshot_id: 'string',
        backup_id: 'string',
      },
    }));
  it('the reply has the unfinished operation', async () => {
    const reply = await send(diskBody());
    expect(membersOf(reply.body)).toEqual(['operation']);
    expect(operationOf(reply)).toMatchObject({ state: 'IN_PROGRESS', result: null });
  });
});

describe('docs/contract/disks.md#the-disk-object', () => {
  it('an attached disk appears in its VM as a VM disk', async () => {
    const [vmId, diskId] = [await makeVm(world), await makeDisk(world, { size: '7GiB' })];
    await attachDisk(world, { vmId, diskId });
    const { body: vm } = await world.get(`${world.P}/vms/${vmId}`);
    const { body: disk } = await world.get(`${world.P}/disks/${diskId}`);
    expect(disk).toMatchObject(vm.disks[1]);
    expect(vm.disks[1]).toMatchObject({ id: diskId, size: '7GiB', attachment_type: 'data' });
  });
});
