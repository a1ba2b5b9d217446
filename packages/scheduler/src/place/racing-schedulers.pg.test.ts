import type { Sql } from '@gantry/db/connect';
import { toCloudError } from '@gantry/db/errors';
import type { Lease } from '@gantry/db/queries/placement/leases';
import { type CommitOutcome, commitPlacements } from '@gantry/db/queries/placement/placements';
import { listUnplacedVms } from '@gantry/db/queries/placement/unplaced-vms';
import { CloudError } from '@gantry/model/errors';
import { otherProcess } from '@gantry/testkit/database/other-process';
import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { addHosts } from '@gantry/testkit/make/hosts';
import { holdLocation, makePlacer } from '@gantry/testkit/make/placers';
import { addProject } from '@gantry/testkit/make/tenants';
import { addVms, removeVms } from '@gantry/testkit/make/vms';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decide, neededAddresses } from './decide.ts';
import { type Placer, placePending } from './place-pending.ts';

/**
 * Several schedulers with their own connections race for the last GPUs of a host. All of them
 * decide first, so that they choose the same GPUs, and then commit concurrently. Races of one kind
 * run concurrently, each in its own location.
 */
let database: TestDatabase;
let projectId: string;
const processes: Sql[] = [];
const locations = Array.from({ length: 8 }, (_, i) => `race-${i}`);

beforeAll(async () => {
  database = await createTestDatabase();
  const { sql } = database;
  for (const name of locations)
    await sql`insert into locations (name, region, zone) values (${name}, 'race', ${name.slice(5)})`;
  projectId = await addProject(sql);
  for (let i = 0; i < 5; i += 1) processes.push(otherProcess(database.url));
});
afterAll(async () => {
  await Promise.all(processes.map((sql) => sql.end({ timeout: 5 })));
  await database.drop();
});

type Arena = { location: string; type: string; gpus: number; drives: number; placers: Placer[] };
type Commit = () => Promise<CommitOutcome>;

/** A host on which one VM uses all GPUs. */
async function openArena(
  location: string,
  { placers, gpus, drives }: { placers: number; gpus: number; drives: number },
): Promise<Arena> {
  const { sql } = database;
  await sql`delete from hosts where location = ${location}`;
  const [model, family] = drives > 0 ? ['A40 48GB PCIe', 'a40'] : ['L40S 48GB PCIe', 'l40s-48gb'];
  await addHosts(sql, 1, { location, gpus, model });
  const lease = await holdLocation(sql, location);
  return {
    ...{ location, gpus, drives, type: `${family}.${gpus}x` },
    placers: processes.slice(0, placers).map((process) => makePlacer(process, lease)),
  };
}

/**
 * PostgreSQL ends the session of a lease holder that pauses for a second in its transaction, and a
 * loaded machine may pause this process for that long. Like a scheduler, it then tries again.
 */
async function connected<T>(write: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (codeOf(toCloudError(error)) !== 'unavailable') throw error;
    }
  }
}

const codeOf = (error: unknown) => (error instanceof CloudError ? error.code : undefined);

/** Reads and decides now. Returns a function that commits the decision. */
async function decideOn(placer: Placer, vmIds: string[]): Promise<Commit> {
  const { sql, lease, hostCache, addresses } = placer;
  await hostCache.refresh();
  const turn = await listUnplacedVms(sql, { location: lease.location, limit: 100 });
  const vms = turn.vms.filter(({ id }) => vmIds.includes(id));
  const open = await addresses.open(neededAddresses(vms));
  const { decided } = decide(vms, {
    avoided: new Set(),
    ...{ index: hostCache.index, location: lease.location, addresses: open },
  });
  expect(decided).toHaveLength(vmIds.length);
  const placements = decided.map(({ placement }) => placement);
  return async () => {
    const commit = await connected(() => commitPlacements(sql, { lease, placements }));
    if (commit.outcome === 'committed' && commit.dropped.length === 0)
      hostCache.committed(commit.moves);
    else for (const { claimed } of decided) hostCache.index.release(claimed);
    return commit;
  };
}

/** They have addresses already, so that they race only for devices. */
async function addAddressedVms(count: number, { location, type }: Arena): Promise<string[]> {
  const vmIds = await addVms(database.sql, count, { projectId, location, type });
  await database.sql`insert into address_claims (network_interface_id, subnet_id, address)
    select n.id, n.subnet_id, host(s.cidr)::inet + 100 + (row_number() over (order by n.id))
    from network_interfaces n join subnets s on s.id = n.subnet_id where n.vm_id = any(${vmIds}::uuid[])`;
  return vmIds;
}

type Fact = {
  vm_id: string;
  placed: boolean;
  placements: number;
  gpus: number;
  drives: number;
  state: string;
  code: string | null;
};

/** The number of devices of a VM, which is `v` in the outer statement. */
const countClaims = (
  kind: 'gpu' | 'drive',
) => database.sql`(select count(*)::int from device_claims c
  join devices d on d.id = c.device_id where d.kind = ${kind} and c.vm_id = v.id)`;

/** Expects that one VM has all GPUs and the operations of the others say why they have none. */
async function expectOneWinner(
  { location, gpus, drives, placers }: Arena,
  vmIds: string[],
): Promise<string> {
  // The newest holder of the lease still has to fail the VMs without capacity.
  const placer = placers.at(-1);
  if (placer) await connected(() => placePending(placer));
  const facts = await database.sql<Fact[]>`
    select v.id as vm_id, v.placed, o.state, o.result ->> 'code' as code,
      (select count(*)::int from placements where vm_id = v.id) as placements,
      ${countClaims('gpu')} as gpus, ${countClaims('drive')} as drives
    from vms v join operations o on o.resource_id = v.id where v.location = ${location}`;
  const winner = facts.find(({ placed }) => placed);
  const won = { placed: true, placements: 1, gpus, drives, state: 'IN_PROGRESS', code: null };
  const lost = {
    placed: false,
    placements: 0,
    gpus: 0,
    drives: 0,
    state: 'FAILED',
    code: 'out_of_stock',
  };
  expect(facts.map(({ vm_id, ...fact }) => fact)).toEqual(
    facts.map(({ vm_id }) => (vm_id === winner?.vm_id ? won : lost)),
  );
  expect(facts).toHaveLength(vmIds.length);
  return winner?.vm_id ?? '';
}

const count = (outcomes: CommitOutcome[], outcome: CommitOutcome['outcome']) =>
  outcomes.filter((one) => one.outcome === outcome).length;

const isPlaced = (one: CommitOutcome) => one.outcome === 'committed' && one.dropped.length === 0;

/**
 * All decide and then commit at the same moment. On a slow machine all may wait too long for each
 * other's locks; then they do it again.
 */
async function commitTogether(
  { placers }: Arena,
  decideWith: (placer: Placer, i: number) => Promise<Commit>,
): Promise<CommitOutcome[]> {
  for (;;) {
    const commits = await Promise.all(placers.map(decideWith));
    const outcomes = await Promise.all(commits.map((commit) => commit()));
    if (outcomes.some(isPlaced)) return outcomes;
  }
}

async function race(
  { races, placers }: { races: number; placers: number },
  run: (arena: Arena) => Promise<void>,
): Promise<void> {
  await Promise.all(
    locations.map(async (location, i) => {
      // Half of the types have no drives, so only the GPUs conflict.
      const gpus = (i % 2) + 1;
      const arena = await openArena(location, { placers, gpus, drives: i < 4 ? gpus : 0 });
      for (let round = 0; round < races / locations.length; round += 1) await run(arena);
    }),
  );
}

// A thousand races in total.
describe.each([
  { placers: 2, races: 160 },
  { placers: 5, races: 90 },
])('$placers schedulers that race for the last GPUs', ({ placers, races }) => {
  it('with the same lease and different VMs give them to one VM', async () => {
    await race({ races: 2 * races, placers }, async (arena) => {
      const vmIds = await addAddressedVms(placers, arena);
      const outcomes = await commitTogether(arena, (placer, i) =>
        decideOn(placer, vmIds.slice(i, i + 1)),
      );
      expect([count(outcomes, 'committed'), count(outcomes, 'lost')]).toEqual([1, placers - 1]);
      await expectOneWinner(arena, vmIds);
      await removeVms(database.sql, vmIds);
    });
  });

  it('with the same lease and the same VM give them to it once', async () => {
    await race({ races, placers }, async (arena) => {
      const { location, type } = arena;
      const vmIds = await addVms(database.sql, 1, { projectId, location, type });
      const outcomes = await commitTogether(arena, (placer) => decideOn(placer, vmIds));
      expect(outcomes.filter(isPlaced)).toHaveLength(1);
      await expectOneWinner(arena, vmIds);
      await removeVms(database.sql, vmIds);
    });
  });

  it('while the lease changes hands let only the last holder write', async () => {
    await race({ races, placers }, async (arena) => {
      const { location, type } = arena;
      const vmIds = await addVms(database.sql, placers, { projectId, location, type });
      const commits: Commit[] = [];
      for (const [i, placer] of arena.placers.entries()) {
        placer.lease = await holdLocation(database.sql, location);
        commits.push(await decideOn(placer, vmIds.slice(i, i + 1)));
      }
      const outcomes = await Promise.all(commits.map((commit) => commit()));
      expect([count(outcomes, 'committed'), count(outcomes, 'lease_lost')]).toEqual([
        1,
        placers - 1,
      ]);
      expect(await expectOneWinner(arena, vmIds)).toBe(vmIds.at(-1));
      const lease: Lease = await holdLocation(database.sql, location);
      for (const placer of arena.placers) placer.lease = lease;
      await removeVms(database.sql, vmIds);
    });
  });
});

it('five schedulers that all act as lease holders fill a fleet exactly', async () => {
  const { sql } = database;
  const location = locations[0] ?? '';
  await sql`delete from hosts where location = ${location}`;
  await addHosts(sql, 6, { location, gpus: 8, nodes: 2, spans: true });
  const lease = await holdLocation(sql, location);
  const placers = processes.map((process) => makePlacer(process, lease));
  const types = ['a40.1x', 'a40.2x', 'a40.4x', 'a40.1x', 'a40.8x', 'a40.2x'];
  const sizes = new Map(types.map((type) => [type, Number(type.slice(4, -1))]));
  const waves: string[] = [];
  for (const type of types) waves.push(...(await addVms(sql, 8, { projectId, location, type })));
  const pending = async () => (await listUnplacedVms(sql, { location, limit: 1 })).vms.length > 0;
  await Promise.all(
    placers.map(async (placer, i) => {
      while (await pending()) await connected(() => placePending(placer, { limit: 1 + i }));
    }),
  );
  const rows = await sql<{ type: string; placed: boolean; gpus: number; hosts: number }[]>`
    select v.type, v.placed, ${countClaims('gpu')} as gpus,
      (select count(distinct d.host_id)::int from device_claims c join devices d on d.id = c.device_id
        where c.vm_id = v.id) as hosts
    from vms v where v.location = ${location}`;
  expect(rows).toHaveLength(waves.length);
  for (const { type, placed, gpus, hosts } of rows)
    expect([gpus, hosts]).toEqual(placed ? [sizes.get(type), 1] : [0, 0]);
  expect(rows.reduce((sum, { gpus }) => sum + gpus, 0)).toBe(48);
  const over = await sql`select device_id from device_claims group by 1 having count(*) > 1`;
  expect(over).toHaveLength(0);
});
