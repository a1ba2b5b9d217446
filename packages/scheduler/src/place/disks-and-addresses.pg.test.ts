import { newId } from '@gantry/model/ids';
import { unplaceVms } from '@gantry/testkit/make/placements';
import { removeVms, startVms } from '@gantry/testkit/make/vms';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { placePending } from './place-pending.ts';
import { type PlacingWorld, startPlacingWorld } from './testing/placing-world.ts';

let world: PlacingWorld;

beforeAll(async () => {
  world = await startPlacingWorld();
});
afterAll(() => world.stop());
beforeEach(() => world.holdLease());
afterEach(() => world.clear());

describe('a VM with disks is placed', () => {
  const keepDisk = (vmId: string, hostId: string) =>
    world.sql`update disks set host_id = ${hostId} where id = ${vmId}`;

  it('on the host that has the disks, even if another host fits better', async () => {
    const [small, home] = [await world.addHost({ gpus: 1 }), await world.addHost({ gpus: 8 })];
    const vmId = await world.addVm();
    await keepDisk(vmId, home.id);
    await placePending(world.placer);
    expect(await world.hostOf(vmId)).toMatchObject({ host_id: home.id });
    expect(small.id).not.toBe(home.id);
  });

  it('on no other host, and fails with the reason storage', async () => {
    const home = await world.addHost();
    await world.addHosts(3);
    const [taker, vmId] = [await world.addVm(), await world.addVm()];
    await keepDisk(taker, home.id);
    await keepDisk(vmId, home.id);
    expect(await placePending(world.placer)).toMatchObject({ placed: 1, failed: 1 });
    const { result } = await world.operationOf([taker, vmId].toSorted()[1] ?? '');
    expect(result.details.filters.at(-1)).toEqual({ filter: 'storage', left: 0 });
    expect(result.message).toContain('has its disks');
  });

  it.each([
    ['a host that is gone', async (vmId: string) => keepDisk(vmId, newId())],
    [
      'two hosts',
      async (vmId: string) => {
        const [a, b] = await world.addHosts(2);
        await keepDisk(vmId, a?.id ?? '');
        const id = newId();
        await world.sql`insert into disks (id, project_id, kind, name, type, size, size_gib, location, block_size, serial_number, host_id)
          values (${id}, ${world.projectId}, 'data', ${id}, 'persistent-ssd', '1GiB', 1, 'eu-north-a', 512, ${id}, ${b?.id ?? ''})`;
        await world.sql`insert into disk_attachments (disk_id, vm_id, attachment_type, mode, exclusive)
          values (${id}, ${vmId}, 'data', 'read-write', true)`;
      },
    ],
  ])('on no host if its disks are on %s', async (_, keep) => {
    await world.addHosts(2);
    const vmId = await world.addVm();
    await keep(vmId);
    expect(await placePending(world.placer)).toMatchObject({ placed: 0, failed: 1 });
    const { result } = await world.operationOf(vmId);
    expect(result.details.filters.at(-1)).toEqual({ filter: 'storage', left: 0 });
  });

  it('on any host with the shared storage', async () => {
    await world.addHost();
    const [home, other] = await world.addHosts(2, { sharedStorage: true });
    const vmIds = await world.addVms(3);
    for (const vmId of vmIds) await keepDisk(vmId, home?.id ?? '');
    expect(await placePending(world.placer)).toMatchObject({ placed: 2, failed: 1 });
    const places = await Promise.all(vmIds.slice(0, 2).map(world.hostOf));
    expect(places.map((place) => place?.host_id).sort()).toEqual([home?.id, other?.id].sort());
  });
});

describe('addresses', () => {
  it('are unique private addresses of the subnet and survive a stop and start', async () => {
    const { sql } = world;
    await world.addHosts(20);
    const vmIds = await world.addVms(20);
    await placePending(world.placer);
    const given = await Promise.all(vmIds.map(world.addressOf));
    expect(given).toEqual(vmIds.map((_, i) => `172.27.0.${5 + i}`));
    await unplaceVms(sql, vmIds.slice(0, 3));
    await startVms(sql, vmIds.slice(0, 3));
    expect(await placePending(world.placer)).toMatchObject({ placed: 3 });
    expect(await Promise.all(vmIds.map(world.addressOf))).toEqual(given);
  });

  it('that were just released are not reused while others are free', async () => {
    const { sql } = world;
    await world.addHosts(1);
    for (const expected of ['172.27.0.5', '172.27.0.6', '172.27.0.7']) {
      const vmId = await world.addVm();
      await placePending(world.placer);
      expect(await world.addressOf(vmId)).toBe(expected);
      await removeVms(sql, [vmId]);
    }
  });

  it('are found in gaps, and a full subnet is named by the failed operation', async () => {
    const { sql } = world;
    await sql`update subnets set cidr = '172.27.0.0/28' where project_id = ${world.projectId} and location = 'eu-north-a'`;
    await world.addHosts(20);
    const vmIds = await world.addVms(11);
    expect(await placePending(world.placer)).toMatchObject({ placed: 10, failed: 1 });
    const given = await Promise.all(vmIds.slice(0, 10).map(world.addressOf));
    expect(new Set(given)).toEqual(
      new Set(Array.from({ length: 10 }, (_, i) => `172.27.0.${5 + i}`)),
    );
    expect(await world.operationOf(vmIds[10] ?? '')).toMatchObject({
      state: 'FAILED',
      result: { code: 'address_exhausted', message: expect.stringContaining('172.27.0.0/28') },
    });
    await removeVms(sql, vmIds.slice(3, 4));
    const vmId = await world.addVm();
    expect(await placePending(world.placer)).toMatchObject({ placed: 1 });
    expect(await world.addressOf(vmId)).toBe(given[3]);
    await sql`update subnets set cidr = '172.27.0.0/20' where project_id = ${world.projectId} and location = 'eu-north-a'`;
  });

  it('of the public pool are assigned until the pool is empty, and kept', async () => {
    const { sql } = world;
    await world.addHosts(3);
    for (const [location, address] of [
      ['eu-north-a', '192.0.2.1'],
      ['eu-north-a', '192.0.2.2'],
      ['us-east-a', '192.0.2.3'],
    ] as const)
      await sql`insert into public_addresses (id, location, address) values (${newId()}, ${location}, ${address})`;
    const vmIds = await world.addVms(3);
    expect(await placePending(world.placer)).toMatchObject({ placed: 3 });
    const pool = () =>
      sql`select host(address) as address, network_interface_id from public_addresses order by 1`;
    const given = await pool();
    expect(given.map((row) => row['network_interface_id'])).toEqual(
      expect.arrayContaining([vmIds[0], vmIds[1], null]),
    );
    expect(given[2]).toMatchObject({ network_interface_id: null });
    await unplaceVms(sql, vmIds.slice(0, 1));
    await startVms(sql, vmIds.slice(0, 1));
    expect(await placePending(world.placer)).toMatchObject({ placed: 1 });
    expect(await pool()).toEqual(given);
  });
});
