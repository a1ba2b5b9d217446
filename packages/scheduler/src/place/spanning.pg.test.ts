import type { Sql, Transaction } from '@gantry/db/connect';
import { readChanges } from '@gantry/db/queries/changes';
import { readOldestOpenXid } from '@gantry/db/queries/hosts/host-changes';
import { readHostSpecs } from '@gantry/db/queries/hosts/host-specs';
import { readNetworkMembers } from '@gantry/db/queries/hosts/network-members';
import { commitPlacements } from '@gantry/db/queries/placement/placements';
import { otherProcess } from '@gantry/testkit/database/other-process';
import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { addHosts } from '@gantry/testkit/make/hosts';
import { holdLocation } from '@gantry/testkit/make/placers';
import { addProject } from '@gantry/testkit/make/tenants';
import { addVms } from '@gantry/testkit/make/vms';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

let database: TestDatabase;
let elsewhere: Sql;
beforeAll(async () => {
  database = await createTestDatabase();
  elsewhere = otherProcess(database.url);
});
afterAll(async () => {
  await elsewhere.end({ timeout: 5 });
  await database.drop();
});

describe('in a network over several hosts', () => {
  let hostIds: string[];
  let vmIds: string[];
  beforeEach(async () => {
    hostIds = (await addHosts(database.sql, 2, { gpus: 1, spans: true })).map(({ id }) => id);
    vmIds = await addVms(database.sql, 2, { projectId: await addProject(database.sql) });
  });
  const [first, second] = [0, 1];
  const at = (list: string[], index: number) => list[index] ?? '';

  const claim = (tx: Sql | Transaction, index: number) =>
    tx`insert into address_claims (network_interface_id, subnet_id, address)
      select n.id, n.subnet_id, host(s.cidr)::inet + ${20 + index}::int from network_interfaces n
      join subnets s on s.id = n.subnet_id where n.vm_id = ${at(vmIds, index)}`;
  const place = (tx: Sql | Transaction, index: number) =>
    tx`insert into placements (vm_id, host_id, epoch)
      values (${at(vmIds, index)}, ${at(hostIds, index)}, 1)`;
  const membersOf = async () => {
    const found = await readNetworkMembers(database.sql, await networkIds());
    return [...found.values()].flat().map(({ host_id }) => host_id);
  };
  const networkIds = async () => {
    const rows = await database.sql<{ id: string }[]>`
      select distinct network_id as id from network_interfaces where vm_id = any(${vmIds}::uuid[])`;
    return rows.map(({ id }) => id);
  };

  it('placements do not wait for each other, and every commit is found', async () => {
    const lease = await holdLocation(database.sql);
    await claim(database.sql, first);
    await claim(database.sql, second);
    const placement = {
      vmId: at(vmIds, second),
      hostId: at(hostIds, second),
      generation: '1',
      deviceIds: [],
      numaShares: [],
      addresses: [],
      publicFor: [],
    };
    const since = await readOldestOpenXid(database.sql);
    let next = '';
    await elsewhere.begin(async (tx) => {
      await tx`select from networks where id in
        (select network_id from network_interfaces where vm_id = ${at(vmIds, first)}) for share`;
      await place(tx, first);
      const committed = await commitPlacements(database.sql, { lease, placements: [placement] });
      expect(committed).toMatchObject({ outcome: 'committed', dropped: [] });
      const changes = await readChanges(database.sql, { since, locations: [] });
      expect(changes.networkIds).toEqual(expect.arrayContaining(await networkIds()));
      expect(await membersOf()).toEqual([at(hostIds, second)]);
      next = changes.xmin;
    });
    const late = await readChanges(database.sql, { since: next, locations: [] });
    expect(late.networkIds).toEqual(expect.arrayContaining(await networkIds()));
    expect((await membersOf()).sort()).toEqual([...hostIds].sort());
  });

  it('VMs on a host without an underlay address are not members', async () => {
    for (const index of [first, second]) {
      await claim(database.sql, index);
      await place(database.sql, index);
    }
    const reach = async (address: string | null) => {
      const since = await readOldestOpenXid(database.sql);
      await database.sql`update hosts set underlay_address = ${address}::inet where id = ${at(hostIds, first)}`;
      const changes = await readChanges(database.sql, { since, locations: [] });
      expect(changes.networkIds).toEqual(expect.arrayContaining(await networkIds()));
      const [row] = await readHostSpecs(database.sql, [at(hostIds, first)]);
      return { number: Number(row?.number), spans: row?.spans };
    };
    const alone = await reach(null);
    expect(alone.spans).toBe(false);
    expect(await membersOf()).toEqual([at(hostIds, second)]);
    const again = await reach('192.0.2.77');
    expect(again).toMatchObject({ spans: true });
    expect(again.number).toBeGreaterThan(alone.number);
    expect(await membersOf()).toHaveLength(2);
  });
});
