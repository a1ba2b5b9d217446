import type { Sql, Transaction } from '@gantry/db/connect';
import { readHostSpecs } from '@gantry/db/queries/hosts/host-specs';
import { commitPlacements } from '@gantry/db/queries/placement/placements';
import { lockAffectedHosts } from '@gantry/db/queries/settle/release-vm';
import { countWaiting, otherProcess } from '@gantry/testkit/database/other-process';
import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { addHosts } from '@gantry/testkit/make/hosts';
import { holdLocation } from '@gantry/testkit/make/placers';
import { addProject } from '@gantry/testkit/make/tenants';
import { addVms } from '@gantry/testkit/make/vms';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { toHostSpec } from '../deliver/host-spec.ts';

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
  /** Returns the spec that a host would get now. */
  const specOf = async (index: number) => {
    const [row] = await readHostSpecs(database.sql, [at(hostIds, index)]);
    if (!row) throw new Error('BUG: the host has a number');
    return toHostSpec(row);
  };
  const neighboursOf = async (index: number) =>
    (await specOf(index)).networks?.flatMap(({ neighbours = [] }) => neighbours) ?? [];

  it('two VMs placed at the same moment appear in the specs of both hosts', async () => {
    const lease = await holdLocation(database.sql);
    await claim(database.sql, first);
    await claim(database.sql, second);
    const placement = {
      vmId: at(vmIds, second),
      hostId: at(hostIds, second),
      generation: '1',
      deviceIds: [],
      addresses: [],
      publicFor: [],
    };
    let committing: ReturnType<typeof commitPlacements> | undefined;
    await elsewhere.begin(async (tx) => {
      // Even the weakest lock of a placement blocks the other transaction.
      await tx`select from networks where id in
        (select network_id from network_interfaces where vm_id = ${at(vmIds, first)}) for share`;
      await place(tx, first);
      committing = commitPlacements(database.sql, { lease, placements: [placement] });
      await expect.poll(() => countWaiting(tx)).toBe(1);
    });
    expect(await committing).toMatchObject({ outcome: 'committed', dropped: [] });
    expect(await neighboursOf(first)).toHaveLength(1);
    expect(await neighboursOf(second)).toHaveLength(1);
  });

  it('a host without an underlay address has no neighbours, and gets them with an address', async () => {
    for (const index of [first, second]) {
      await claim(database.sql, index);
      await place(database.sql, index);
    }
    const reach = (address: string | null) =>
      database.sql`update hosts set underlay_address = ${address}::inet where id = ${at(hostIds, first)}`;
    await reach(null);
    const alone = await specOf(first);
    expect(await neighboursOf(first)).toEqual([]);
    // Specs that are read together equal specs that are read one by one.
    const together = await readHostSpecs(database.sql, hostIds);
    const members = together.map(({ networks }) => networks.flatMap((each) => each.members).length);
    expect(members.sort()).toEqual([0, 1]);
    await reach('192.0.2.77');
    expect(await neighboursOf(first)).toHaveLength(1);
    expect(Number((await specOf(first)).number)).toBeGreaterThan(Number(alone.number));
  });

  it('a release locks the revisions of all hosts of the network before it writes', async () => {
    for (const index of [first, second]) {
      await claim(database.sql, index);
      await place(database.sql, index);
    }
    await database.sql.begin(async (tx) => {
      await lockAffectedHosts(tx, {
        hostId: at(hostIds, first),
        releasedVmIds: [at(vmIds, first)],
        removedVmIds: [],
        newDiskIds: [],
      });
      for (const hostId of hostIds) {
        const take = elsewhere`select from host_revisions where host_id = ${hostId} for update nowait`;
        await expect(take).rejects.toMatchObject({ code: '55P03' });
      }
    });
  });
});
