import type { HostIndex } from '@gantry/placement/host-index';
import { otherProcess } from '@gantry/testkit/database/other-process';
import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { addHosts, type TestHost } from '@gantry/testkit/make/hosts';
import { unplaceVms } from '@gantry/testkit/make/placements';
import { holdLocation, makePlacer } from '@gantry/testkit/make/placers';
import { addProject } from '@gantry/testkit/make/tenants';
import { addVms, removeVms } from '@gantry/testkit/make/vms';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createHostCache, type HostCache } from './host-cache.ts';
import { placePending } from './place-pending.ts';

const LOCATION = 'eu-north-a';
let database: TestDatabase;
let projectId: string;
let host: TestHost;
let hostCache: HostCache;

beforeAll(async () => {
  database = await createTestDatabase();
  projectId = await addProject(database.sql);
});
afterAll(() => database.drop());

beforeEach(async () => {
  [host = { id: '', name: '', gpuIds: [], driveIds: [] }] = await addHosts(database.sql, 1, {
    gpus: 4,
    nodes: 2,
  });
  hostCache = createHostCache({ sql: database.sql, location: LOCATION });
  expect(await hostCache.refresh()).toBe(true);
});
afterEach(async () => {
  const { sql } = database;
  const vms = await sql<{ id: string }[]>`select id from vms`;
  await removeVms(
    sql,
    vms.map(({ id }) => id),
  );
  await sql`delete from hosts`;
});

const gpuStates = (index: HostIndex) => index.read(host.id)?.gpus.map(({ state }) => state);
/** Expects that the cache equals a fresh read. */
async function expectTrue(known: HostCache): Promise<void> {
  const fresh = createHostCache({ sql: database.sql, location: LOCATION });
  await fresh.refresh();
  const all = (index: HostIndex) => [...index.hostIds()].sort().map((id) => index.read(id));
  expect(all(known.index)).toEqual(all(fresh.index));
}

describe('the host cache', () => {
  it('reads only changed hosts', async () => {
    expect(await hostCache.refresh()).toBe(false);
    expect(await hostCache.refresh()).toBe(false);
  });

  it.each([
    [
      'a cordon',
      (id: string) => database.sql`update hosts set admin_state = 'cordoned' where id = ${id}`,
    ],
    [
      'a lost stream',
      (id: string) => database.sql`update hosts set state = 'unreachable' where id = ${id}`,
    ],
    [
      'less memory',
      (id: string) => database.sql`update hosts set numa_nodes = '[]' where id = ${id}`,
    ],
    [
      'a quarantine',
      (id: string) =>
        database.sql`update devices set quarantine_reason = 'x' where kind = 'gpu' and host_id = ${id}`,
    ],
    [
      'a missing drive',
      (id: string) =>
        database.sql`update devices set state = 'missing' where kind = 'drive' and host_id = ${id}`,
    ],
    [
      'a GPU pulled out',
      (id: string) => database.sql`delete from devices where kind = 'gpu' and host_id = ${id}`,
    ],
  ])('sees %s', async (_, change) => {
    await change(host.id);
    expect(await hostCache.refresh()).toBe(true);
    await expectTrue(hostCache);
    expect(await hostCache.refresh()).toBe(false);
  });

  it('sees new hosts of its location only', async () => {
    await addHosts(database.sql, 2, { location: 'us-east-a' });
    expect(await hostCache.refresh()).toBe(false);
    await addHosts(database.sql, 2);
    expect(await hostCache.refresh()).toBe(true);
    expect([...hostCache.index.hostIds()]).toHaveLength(3);
    await database.sql`delete from hosts where location = 'us-east-a'`;
  });

  it('reads many hosts in slices, and sees what changed between two of them', async () => {
    const { sql } = database;
    const others = await addHosts(sql, 4);
    let slices = 0;
    const interrupted = new Proxy(sql, {
      get: (target, name) =>
        name === 'begin'
          ? async (...args: Parameters<typeof sql.begin>) => {
              const result = await sql.begin(...args);
              slices += 1;
              // Its slice was the first or is the last.
              if (slices === 2)
                await sql`update hosts set admin_state = 'cordoned' where location = ${LOCATION}`;
              return result;
            }
          : Reflect.get(target, name),
    });
    const sliced = createHostCache({ sql: interrupted, location: LOCATION, sliceHosts: 2 });
    await sliced.refresh();
    expect(slices).toBe(3);
    expect([...sliced.index.hostIds()].sort()).toEqual(
      [host, ...others].map(({ id }) => id).sort(),
    );
    expect(await sliced.refresh()).toBe(true);
    await expectTrue(sliced);
  });

  it('sees that a host was removed', async () => {
    await database.sql`delete from hosts`;
    expect(hostCache.noteCount(0)).toBe(true);
    expect(await hostCache.refresh()).toBe(true);
    expect(hostCache.noteCount(0)).toBe(false);
    expect([...hostCache.index.hostIds()]).toEqual([]);
  });

  it('sees a late commit after the commits of younger transactions', async () => {
    const { sql } = database;
    const [other] = await addHosts(sql, 1);
    const late = otherProcess(database.url);
    try {
      await late.begin(async (tx) => {
        // It has its change number now, and commits after later changes.
        await tx`update devices set quarantine_reason = 'late' where id = ${host.gpuIds[0] ?? ''}`;
        expect(await hostCache.refresh()).toBe(true);
        for (const reason of ['a', 'b']) {
          await sql`update devices set quarantine_reason = ${reason} where kind = 'gpu' and host_id = ${other?.id ?? ''}`;
          expect(await hostCache.refresh()).toBe(true);
          expect(await hostCache.refresh()).toBe(false);
        }
        expect(gpuStates(hostCache.index)).toEqual(['free', 'free', 'free', 'free']);
      });
    } finally {
      await late.end();
    }
    expect(await hostCache.refresh()).toBe(true);
    expect(gpuStates(hostCache.index)).toEqual(['quarantined', 'free', 'free', 'free']);
    await expectTrue(hostCache);
  });

  it('sees a change by an old transaction on a host that a younger one has changed since', async () => {
    const { sql } = database;
    const late = otherProcess(database.url);
    try {
      await late.begin(async (tx) => {
        await tx`select pg_current_xact_id()`;
        await sql`update devices set quarantine_reason = 'young' where id = ${host.gpuIds[1] ?? ''}`;
        expect(await hostCache.refresh()).toBe(true);
        await tx`update devices set quarantine_reason = 'old' where id = ${host.gpuIds[0] ?? ''}`;
      });
    } finally {
      await late.end();
    }
    expect(await hostCache.refresh()).toBe(true);
    expect(gpuStates(hostCache.index)).toEqual(['quarantined', 'quarantined', 'free', 'free']);
  });
});

describe('after a commit of this scheduler the host cache', () => {
  it('reads nothing and equals a new cache', async () => {
    const { sql } = database;
    const placer = makePlacer(sql, await holdLocation(sql));
    await addVms(sql, 2, { projectId });
    expect(await placePending(placer)).toMatchObject({ placed: 2, failed: 0 });
    expect(await placer.hostCache.refresh()).toBe(false);
    await expectTrue(placer.hostCache);
  });

  it('reads a host that another transaction changed just before', async () => {
    const { sql } = database;
    const placer = makePlacer(sql, await holdLocation(sql));
    const gone = await addVms(sql, 1, { projectId });
    await placePending(placer);
    await addVms(sql, 1, { projectId });
    const { hostCache: mine } = placer;
    const { refresh } = mine;
    // Between the read of the hosts and the commit, a VM leaves the host.
    mine.refresh = async () => {
      mine.refresh = refresh;
      const changed = await refresh();
      await unplaceVms(sql, gone);
      await removeVms(sql, gone);
      return changed;
    };
    expect(await placePending(placer)).toMatchObject({ placed: 1 });
    expect(await mine.refresh()).toBe(true);
    await expectTrue(mine);
  });

  it('knows the free amounts after placements of every size', async () => {
    const { sql } = database;
    await addHosts(sql, 3, { gpus: 8, nodes: 2 });
    const placer = makePlacer(sql, await holdLocation(sql));
    for (const type of ['a40.1x', 'a40.2x', 'a40.4x', 'a40.2x', 'a40.8x']) {
      await addVms(sql, 1, { projectId, type });
      expect(await placePending(placer)).toMatchObject({ placed: 1 });
    }
    await expectTrue(placer.hostCache);
  });
});
