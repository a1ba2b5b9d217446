import { newId } from '@gantry/model/ids';
import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { addHosts } from '@gantry/testkit/make/hosts';
import { holdLocation, makePlacer } from '@gantry/testkit/make/placers';
import { addProject } from '@gantry/testkit/make/tenants';
import { addVms, removeVms } from '@gantry/testkit/make/vms';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Placer, placePending } from './place-pending.ts';

let database: TestDatabase;
let projectId: string;
let placer: Placer;

beforeEach(async () => {
  database = await createTestDatabase();
  projectId = await addProject(database.sql);
  placer = makePlacer(database.sql, await holdLocation(database.sql));
});
afterEach(() => database.drop());

const addAddresses = async (...addresses: string[]) => {
  for (const address of addresses) {
    await database.sql`insert into public_addresses (id, location, address)
      values (${newId()}, 'eu-north-a', ${address})`;
  }
};
const publicAddressOf = async (vmId: string) => {
  const [row] = await database.sql`select host(address) as address from public_addresses
    where network_interface_id = ${vmId}`;
  return row?.['address'];
};

it('public addresses rest before another project gets them', async () => {
  const { sql } = database;
  await addHosts(sql, 3);
  await addAddresses('192.0.2.7');
  const [first = ''] = await addVms(sql, 1, { projectId });
  await placePending(placer);
  expect(await publicAddressOf(first)).toBe('192.0.2.7');
  await removeVms(sql, [first]);

  const strangerId = await addProject(sql);
  const [stranger = ''] = await addVms(sql, 1, { projectId: strangerId });
  await placePending(placer);
  expect(await publicAddressOf(stranger)).toBeUndefined();
  const [own = ''] = await addVms(sql, 1, { projectId });
  await placePending(placer);
  expect(await publicAddressOf(own)).toBe('192.0.2.7');

  await removeVms(sql, [stranger, own]);
  await sql`update public_addresses set released_at = released_at - interval '15 minutes'`;
  const [later = ''] = await addVms(sql, 1, { projectId: strangerId });
  await placePending(placer);
  expect(await publicAddressOf(later)).toBe('192.0.2.7');
});

it('public addresses are used in the order of their release, unused ones first', async () => {
  const { sql } = database;
  await addHosts(sql, 4);
  await addAddresses('192.0.2.1', '192.0.2.2', '192.0.2.3');
  await sql`update public_addresses set released_at = now() - interval '2 hours' where address = '192.0.2.1'`;
  await sql`update public_addresses set released_at = now() - interval '3 hours' where address = '192.0.2.2'`;
  const given = [];
  for (let n = 0; n < 3; n += 1) {
    const [vmId = ''] = await addVms(sql, 1, { projectId });
    await placePending(placer);
    given.push(await publicAddressOf(vmId));
  }
  expect(given).toEqual(['192.0.2.3', '192.0.2.2', '192.0.2.1']);
});
