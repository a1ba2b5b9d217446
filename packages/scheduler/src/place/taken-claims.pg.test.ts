import { commitPlacements, type NewPlacement } from '@gantry/db/queries/placement/placements';
import { newId } from '@gantry/model/ids';
import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { addHosts, type TestHost } from '@gantry/testkit/make/hosts';
import { holdLocation } from '@gantry/testkit/make/placers';
import { addProject } from '@gantry/testkit/make/tenants';
import { addVms } from '@gantry/testkit/make/vms';
import { afterAll, beforeAll, expect, it } from 'vitest';

/**
 * A placement that conflicts with another VM in one kind of claim is refused completely, even if no
 * other claim conflicts.
 */
let database: TestDatabase;
let host: TestHost;
let projectId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  projectId = await addProject(database.sql);
  [host] = (await addHosts(database.sql, 1, { gpus: 8 })) as [TestHost];
});
afterAll(() => database.drop());

type Wanted = Pick<NewPlacement, 'deviceIds' | 'numaShares' | 'addresses'>;
const NOTHING: Wanted = { deviceIds: [], numaShares: [], addresses: [] };

async function place(wanted: (vmId: string, subnetId: string) => Partial<Wanted>) {
  const { sql } = database;
  const [vmId = ''] = await addVms(sql, 1, { projectId });
  const [subnet] = await sql`select subnet_id from network_interfaces where id = ${vmId}`;
  const placement: NewPlacement = {
    ...{ vmId, generation: '1', hostId: host.id, publicFor: [] },
    ...{ ...NOTHING, ...wanted(vmId, String(subnet?.['subnet_id'])) },
  };
  const lease = await holdLocation(sql);
  const { outcome } = await commitPlacements(sql, { lease, placements: [placement] });
  const [left] = await sql<{ placed: boolean; placements: number }[]>`
    select placed, (select count(*)::int from placements where vm_id = v.id) as placements
    from vms v where id = ${vmId}`;
  return { outcome, ...left };
}

const address = (interfaceId: string, subnetId: string) => ({
  addresses: [{ interfaceId, subnetId, address: '172.27.0.77' }],
});

it.each([
  ['a GPU', () => ({ deviceIds: host.gpuIds.slice(0, 1) })],
  ['one GPU of two', () => ({ deviceIds: host.gpuIds.slice(1, 3) })],
  ['a drive', () => ({ deviceIds: host.driveIds.slice(0, 1) })],
  ['an address', address],
])('%s that another VM has cannot be claimed again', async (_what, wanted) => {
  expect(await place(wanted)).toEqual({ outcome: 'committed', placed: true, placements: 1 });
  expect(await place(wanted)).toEqual({ outcome: 'lost', placed: false, placements: 0 });
});

it('more cores or memory than a NUMA node has cannot be claimed by several VMs together', async () => {
  const { sql } = database;
  const nodes = [
    { node: 4, cores: 12, memoryMib: 4096, networkGbps: 0 },
    { node: 5, cores: 12, memoryMib: 4096, networkGbps: 0 },
  ];
  await sql`update hosts set numa_nodes = numa_nodes || ${sql.json(nodes)} where id = ${host.id}`;
  const share = (cores: number, memoryMib: number, node = 4) => ({
    numaShares: [{ node, cores, memoryMib }],
  });
  expect(await place(() => share(8, 1024))).toMatchObject({ outcome: 'committed' });
  expect(await place(() => share(5, 1024))).toMatchObject({ outcome: 'lost', placements: 0 });
  expect(await place(() => share(1, 3073))).toMatchObject({ outcome: 'lost', placements: 0 });
  expect(await place(() => share(4, 3072))).toMatchObject({ outcome: 'committed' });
  // A node that has become too small for its VMs does not stop VMs on other nodes.
  await sql`update hosts set numa_nodes = ${sql.json(nodes.map((node) => ({ ...node, cores: 10 })))}
    where id = ${host.id}`;
  expect(await place(() => share(1, 0))).toMatchObject({ outcome: 'lost' });
  expect(await place(() => share(10, 1024, 5))).toMatchObject({ outcome: 'committed' });
});

it('an address that an orphan has cannot be claimed, and another one can', async () => {
  const { sql } = database;
  const orphanId = newId();
  await sql`insert into orphans (id, host_id, vm_id, project_id, revision, generation, description)
    values (${orphanId}, ${host.id}, ${newId()}, ${projectId}, 1, 1, '{}')`;
  await sql`insert into orphan_interfaces (id, orphan_id, network_id, mac_address, private_address)
    select ${newId()}, ${orphanId}, network_id, '', '172.27.0.88' from subnets
    where project_id = ${projectId} and location = 'eu-north-a' limit 1`;
  const placeAt = (wanted: string) =>
    place((interfaceId, subnetId) => ({
      addresses: [{ interfaceId, subnetId, address: wanted }],
    }));
  expect(await placeAt('172.27.0.88')).toEqual({ outcome: 'lost', placed: false, placements: 0 });
  expect(await placeAt('172.27.0.89')).toMatchObject({ outcome: 'committed', placements: 1 });
});

it('an interface cannot claim an address of another subnet', async () => {
  const { sql } = database;
  const elsewhere = await addProject(sql);
  const [other] = await sql<{ id: string }[]>`
    select id from subnets where project_id = ${elsewhere} and location = 'eu-north-a' limit 1`;
  const [vmId = ''] = await addVms(sql, 1, { projectId });
  const claim = (subnetId: string) =>
    sql`insert into address_claims (network_interface_id, subnet_id, address)
      values (${vmId}, ${subnetId}, '172.27.0.99')`;
  await expect(claim(other?.id ?? '')).rejects.toMatchObject({
    constraint_name: 'address_claims_interface_fk',
  });
  const [own] = await sql`select subnet_id from network_interfaces where id = ${vmId}`;
  await claim(String(own?.['subnet_id']));
});
