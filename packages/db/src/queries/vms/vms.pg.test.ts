import { newId } from '@gantry/model/ids';
import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { LOCATION } from '@gantry/testkit/make/request-bodies';
import { addProject } from '@gantry/testkit/make/tenants';
import { addVms } from '@gantry/testkit/make/vms';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Queryable } from '../../connect.ts';
import { listVms, readVm, type VmFilter } from './vms.ts';

/** So few that PostgreSQL reads their tables without indexes. */
const VMS = 200;

let database: TestDatabase;
let projectId: string;
let vmIds: string[];
beforeAll(async () => {
  database = await createTestDatabase();
  projectId = await addProject(database.sql);
  await database.sql`update organization_quotas set max = 1000`;
  vmIds = await addVms(database.sql, VMS, { projectId });
  await database.sql`analyze`;
});
afterAll(() => database.drop());

const all = (): VmFilter => ({
  ...{ projectId, ids: null, names: null, types: null, locations: null, states: null },
  ...{ tags: [], after: null, limit: VMS },
});

it('a list of VMs reads small tables once, and not once for each VM', async () => {
  const rowsOf = async (sql: Queryable) => {
    const [read] = await sql<{ rows: number }[]>`
      select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::float8 as rows from pg_stat_xact_user_tables`;
    return read?.rows ?? 0;
  };
  await database.sql.begin(async (tx) => {
    const before = await rowsOf(tx);
    expect(await listVms(tx, all())).toHaveLength(VMS);
    expect((await rowsOf(tx)) - before).toBeLessThan(10 * VMS);
  });
});

it('a VM reads the same alone and in a list', async () => {
  const { sql } = database;
  const [dynamic = '', reserved = '', bare = ''] = vmIds;
  const [diskId, detachedId] = [newId(), newId()];
  await sql`insert into disks (id, project_id, kind, name, type, size, size_gib, location, block_size, serial_number)
    select id, ${projectId}, 'data', 'data-' || id, 'persistent-ssd', '10GiB', 10, ${LOCATION}, 0, id
    from unnest(${[diskId, detachedId]}::uuid[]) as d (id)`;
  await sql`insert into disk_attachments (disk_id, vm_id, attachment_type, mode, exclusive, desired_state)
    values (${diskId}, ${dynamic}, 'data', 'read-write', true, 'attached'),
      (${detachedId}, ${dynamic}, 'data', 'read-write', true, 'detached')`;
  await sql`insert into address_claims (network_interface_id, subnet_id, address)
    select id, subnet_id, '172.27.0.40' from network_interfaces where vm_id = ${dynamic}`;
  const [dynamicId, reservedId] = [newId(), newId()];
  await sql`insert into public_addresses (id, location, address, network_interface_id)
    values (${dynamicId}, ${LOCATION}, '203.0.113.40', ${dynamic}), (${reservedId}, ${LOCATION}, '203.0.113.41', null)`;
  await sql`insert into reserved_addresses (id, project_id, name, public_address_id, network_interface_id)
    values (${newId()}, ${projectId}, 'kept', ${reservedId}, ${reserved})`;
  await sql`delete from network_interfaces where vm_id = ${bare}`;
  await sql`delete from disk_attachments where vm_id = ${bare}`;

  const listed = await listVms(sql, all());
  const alone = await Promise.all(vmIds.map((vmId) => readVm(sql, { projectId, vmId })));
  expect([...listed]).toEqual(alone);
  expect(alone).toMatchObject([
    {
      disks: [{ id: dynamic, attachment_type: 'os' }, { id: diskId }],
      network_interfaces: [{ private_address: '172.27.0.40', public_address_id: dynamicId }],
    },
    { network_interfaces: [{ public_address: '203.0.113.41', is_reserved: true }] },
    { disks: [], network_interfaces: [] },
    ...vmIds.slice(3).map((id) => ({ id })),
  ]);
});
