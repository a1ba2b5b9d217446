import { finishDisk, finishRule, finishVm } from '@gantry/testkit/make/finished';
import { diskBody, LOCATION, newName, ruleBody } from '@gantry/testkit/make/request-bodies';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  attachDisk,
  defaultNetworkOf,
  expectFieldRefused,
  expectRefusal,
  type Fields,
  IPV4,
  makeDisk,
  makeRule,
  makeVm,
  membersOf,
  NOBODY,
  operationOf,
  startWorld,
  TIMESTAMP,
  UUID,
  type World,
} from './support.ts';

let world: World;
let P: string;

beforeAll(async () => {
  world = await startWorld({ trustedProxies: 1 });
  ({ P } = world);
});
afterAll(() => world.api.stop());

const read = async (path: string) => (await world.get(path)).body;

describe('docs/contract: endpoints of disks and networks', () => {
  it('a disk operation is read unwrapped', async () => {
    const opened = operationOf(await world.post(`${P}/disks`, diskBody()));
    const reply = await world.get(`${P}/disks/operations/${opened.operation_id}`);
    expect(reply).toMatchObject({ status: 200, body: opened });
    expectRefusal(await world.get(`${P}/vms/operations/${opened.operation_id}`), 404, 'not_found');
  });

  it('a firewall rule operation is read unwrapped', async () => {
    const body = ruleBody(await defaultNetworkOf(world));
    const opened = operationOf(await world.post(`${P}/vpc/firewall-rules`, body));
    const path = `operations/${opened.operation_id}`;
    const reply = await world.get(`${P}/vpc/firewall-rules/${path}`);
    expect(reply).toMatchObject({ status: 200, body: opened });
    expectRefusal(await world.get(`${P}/disks/${path}`), 404, 'not_found');
  });

  it('disks are listed as items and read by id', async () => {
    const diskId = await makeDisk(world, { name: 'listed', size: '3GiB' });
    const disk = await read(`${P}/disks/${diskId}`);
    expect(disk).toMatchObject({
      ...{ id: diskId, name: 'listed', type: 'persistent-ssd', size: '3GiB', location: LOCATION },
      ...{ block_size: 512, serial_number: expect.stringMatching(/./) },
      created_at: expect.stringMatching(TIMESTAMP),
      updated_at: expect.stringMatching(TIMESTAMP),
    });
    const list = await read(`${P}/disks`);
    expect(membersOf(list)).toEqual(['items', 'next_page_token']);
    expect(list.items).toContainEqual(disk);
    expectRefusal(await world.get(`${P}/disks/${NOBODY}`), 404, 'not_found');
  });

  it('a disk only grows', async () => {
    const diskId = await makeDisk(world, { size: '10GiB' });
    const grow = (size: unknown) => world.patch(`${P}/disks/${diskId}`, { size });
    for (const size of ['9GiB', '10GiB', '10GB', undefined])
      expectFieldRefused(await grow(size), 'size');
    expect(operationOf(await grow('1TiB')).metadata).toMatchObject({
      ...{ operation_name: 'UPDATE', id: diskId, request: { size: '1TiB' } },
    });
    await finishDisk(world.api.sql, diskId);
    expect((await read(`${P}/disks/${diskId}`)).size).toBe('1TiB');
    expectFieldRefused(await grow('500GiB'), 'size');
  });

  it('a disk is not deleted while it is attached', async () => {
    const [vmId, diskId] = [await makeVm(world), await makeDisk(world)];
    await attachDisk(world, { vmId, diskId });
    expectRefusal(await world.delete(`${P}/disks/${diskId}`), 409, 'disk_attached');
    const osDisk = (await read(`${P}/vms/${vmId}`)).disks[0].id;
    expectRefusal(await world.delete(`${P}/disks/${osDisk}`), 409, 'disk_attached');
    operationOf(await world.post(`${P}/vms/${vmId}/detach-disks`, { detach_disks: [diskId] }));
    await finishVm(world.api.sql, vmId, 'running');
    const { metadata } = operationOf(await world.delete(`${P}/disks/${diskId}`));
    expect(metadata).toMatchObject({ operation_name: 'DELETE', type: 'disk', id: diskId });
    await finishDisk(world.api.sql, diskId);
    expectRefusal(await world.get(`${P}/disks/${diskId}`), 404, 'not_found');
  });

  it('a firewall rule can be read, changed and deleted', async () => {
    const { sql } = world.api;
    const ruleId = await makeRule(world, { name: 'before' });
    const path = `${P}/vpc/firewall-rules/${ruleId}`;
    const before = await read(path);
    expect(before).toMatchObject({ id: ruleId, name: 'before', state: 'active' });
    const endpoint = { resource_id: '', cidr: '198.51.100.0/24' };
    for (const change of [
      ...[{ name: 'after' }, { protocols: ['udp'] }, { source_ports: ['53'] }],
      ...[{ sources: [endpoint] }, { destinations: [endpoint] }, { destination_ports: ['*'] }],
    ] as Fields[]) {
      const { metadata } = operationOf(await world.patch(path, change));
      expect(metadata).toMatchObject({ operation_name: 'UPDATE', id: ruleId, request: change });
      await finishRule(sql, ruleId);
      expect(await read(path)).toMatchObject({ ...change, state: 'active' });
    }
    for (const field of ['direction', 'action', 'vpc_network_id']) {
      expectFieldRefused(await world.patch(path, { [field]: before[field] }), field);
    }
    const { metadata } = operationOf(await world.delete(path));
    expect(metadata).toMatchObject({ operation_name: 'DELETE', id: ruleId });
    await finishRule(sql, ruleId);
    expectRefusal(await world.get(path), 404, 'not_found');
  });

  it('networks can be listed, read, created and deleted', async () => {
    const networks = `${P}/vpc/networks`;
    const create = (body: Fields) => world.post(networks, body);
    const body = { name: newName(), cidr: '10.30.0.0/16' };
    const { status, body: created } = await create(body);
    expect(status).toBe(200);
    const network = await read(`${networks}/${created.id}`);
    expect(membersOf(network)).toEqual(['cidr', 'gateway', 'id', 'name', 'subnets', 'tags']);
    expect(network).toMatchObject({
      ...body,
      gateway: expect.stringMatching(/^10\.30\.0\.\d+$/),
      subnets: [],
    });
    const list = await read(networks);
    expect(membersOf(list)).toEqual(['items', 'next_page_token']);
    expect(list.items).toContainEqual(network);
    const standard = list.items.find(({ name }: Fields) => name === 'default-vpc-network');
    expect(standard.gateway).toMatch(IPV4);
    for (const id of standard.subnets) expect(id).toMatch(UUID);
    for (const field of ['name', 'cidr']) {
      expectFieldRefused(await create({ ...body, [field]: undefined }), field);
    }
    expect((await world.delete(`${networks}/${created.id}`)).status).toBe(200);
    expectRefusal(await world.get(`${networks}/${created.id}`), 404, 'not_found');
  });

  it('subnets can be listed, read, created and deleted', async () => {
    const subnets = `${P}/vpc/subnets`;
    const network = (
      await world.post(`${P}/vpc/networks`, { name: newName(), cidr: '10.40.0.0/16' })
    ).body;
    const body = {
      ...{ name: newName(), cidr: '10.40.16.0/20', location: LOCATION, vpc_network_id: network.id },
    };
    const { status, body: created } = await world.post(subnets, body);
    expect(status).toBe(200);
    const subnet = await read(`${subnets}/${created.id}`);
    expect(subnet).toEqual({ id: expect.stringMatching(UUID), ...body, tags: {} });
    const list = await read(subnets);
    expect(membersOf(list)).toEqual(['items', 'next_page_token']);
    expect(list.items).toContainEqual(subnet);
    expect((await read(`${P}/vpc/networks/${network.id}`)).subnets).toEqual([created.id]);
    expect((await world.delete(`${subnets}/${created.id}`)).status).toBe(200);
    expectRefusal(await world.get(`${subnets}/${created.id}`), 404, 'not_found');
  });
});
