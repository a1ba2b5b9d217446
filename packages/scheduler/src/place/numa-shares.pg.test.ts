import { readHostSpecs } from '@gantry/db/queries/hosts/host-specs';
import { newId } from '@gantry/model/ids';
import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { addHosts, type TestHost } from '@gantry/testkit/make/hosts';
import { holdLocation, makePlacer } from '@gantry/testkit/make/placers';
import { addProject } from '@gantry/testkit/make/tenants';
import { addVms } from '@gantry/testkit/make/vms';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { toHostSpec } from '../deliver/host-spec.ts';
import { createHostCache } from './host-cache.ts';
import { placePending } from './place-pending.ts';

const LOCATION = 'eu-north-a';
let database: TestDatabase;
let projectId: string;
let host: TestHost;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** Both GPUs are on the first node, which has the cores of one small VM; the second node has the rest. */
beforeEach(async () => {
  const { sql } = database;
  await sql`update hosts set admin_state = 'cordoned'`;
  projectId = await addProject(sql);
  [host] = (await addHosts(sql, 1, { gpus: 2 })) as [TestHost];
  const numaNodes = [0, 1].map((node) => ({
    ...{ node, socket: 0, distances: [10, 12], cores: 6, memoryMib: 65_536, networkGbps: 400 },
  }));
  await sql`update hosts set numa_nodes = ${sql.json(numaNodes)} where id = ${host.id}`;
});

const amountsOf = async () => {
  const cache = createHostCache({ sql: database.sql, location: LOCATION });
  await cache.refresh();
  const nodes = cache.index.read(host.id)?.numaNodes ?? [];
  return nodes.map(({ cores, memoryMib }) => [cores, memoryMib]);
};

async function placeTwo(): Promise<string[]> {
  const { sql } = database;
  const vmIds = await addVms(sql, 2, { projectId, type: 'a40.1x' });
  const run = await placePending(makePlacer(sql, await holdLocation(sql)));
  expect(run).toMatchObject({ placed: 2, failed: 0 });
  return vmIds;
}

it('a restarted scheduler counts cores and memory on the nodes that the first one chose', async () => {
  expect(await amountsOf()).toEqual([
    [6, 65_536],
    [6, 65_536],
  ]);
  await placeTwo();
  expect(await amountsOf()).toEqual([
    [0, 4096],
    [0, 4096],
  ]);
});

it('a host is told the nodes that were chosen, which together are all that its VMs have', async () => {
  await placeTwo();
  const [row] = await readHostSpecs(database.sql, [host.id]);
  if (!row) throw new Error('the host has no spec');
  const shares = (toHostSpec(row).vms ?? []).map(({ numaShares }) => numaShares);
  expect(shares).toHaveLength(2);
  expect(shares).toEqual(
    expect.arrayContaining([
      [{ node: 0, cpuCores: 6, memoryMib: 61_440 }],
      [{ node: 1, cpuCores: 6, memoryMib: 61_440 }],
    ]),
  );
});

it.each([
  ['on the node that its host reports', [{ node: 1, cpuCores: 6, memoryMib: 61_440 }], [6, 0]],
  ['on the node of its GPU if the report makes no sense', [{ node: 1, cpuCores: -6 }], [0, 6]],
  ['on the node of its GPU if its host reports no shares', [], [0, 6]],
])('an orphan has its cores %s', async (_where, numaShares, cores) => {
  const { sql } = database;
  const orphanId = newId();
  await sql`insert into orphans (id, host_id, vm_id, project_id, type, revision, generation, description)
    values (${orphanId}, ${host.id}, ${newId()}, ${projectId}, 'a40.1x', 1, 1, ${sql.json({ numaShares })})`;
  await sql`insert into device_claims (device_id, orphan_id) values (${host.gpuIds[0] ?? ''}, ${orphanId})`;
  expect((await amountsOf()).map(([left]) => left)).toEqual(cores);
});
