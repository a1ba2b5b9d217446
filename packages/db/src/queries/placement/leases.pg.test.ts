import { newId } from '@gantry/model/ids';
import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { addHosts } from '@gantry/testkit/make/hosts';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { openStream, recordHeartbeat } from '../hosts/host-liveness.ts';
import { acquireLeases, lockLease, releaseLeases, renewLeases, SILENT_MS } from './leases.ts';
import { listSilentPlacementHosts } from './placement-hosts.ts';

let database: TestDatabase;
const [one, two] = [newId(), newId()];
const HOUR_MS = 3_600_000;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
afterEach(() => database.sql`delete from leases`);

const expire = () => database.sql`update leases set expires_at = now() - interval '1 ms'`;

it('a location has one lease holder at a time; another can acquire the lease after it has expired', async () => {
  const { sql } = database;
  const first = await acquireLeases(sql, { holder: one, ttlMs: HOUR_MS });
  expect(first).toEqual([
    { location: 'eu-north-a', holder: one, epoch: 1 },
    { location: 'us-east-a', holder: one, epoch: 1 },
  ]);
  expect(await acquireLeases(sql, { holder: two, ttlMs: HOUR_MS })).toEqual([]);
  const renewed = await renewLeases(sql, { leases: first, ttlMs: HOUR_MS });
  expect(renewed).toEqual(first.map((lease) => ({ lease, isWanted: false })));
  await expire();
  expect(await renewLeases(sql, { leases: first, ttlMs: HOUR_MS })).toEqual([]);
  const second = await acquireLeases(sql, { holder: two, ttlMs: HOUR_MS });
  expect(second.map(({ holder, epoch }) => [holder, epoch])).toEqual([
    [two, 2],
    [two, 2],
  ]);
  expect(await renewLeases(sql, { leases: first, ttlMs: HOUR_MS })).toEqual([]);
});

it('one of many concurrent requests for a lease succeeds', async () => {
  const { sql } = database;
  for (const epoch of [1, 2, 3]) {
    const holders = Array.from({ length: 8 }, () => newId());
    const got = await Promise.all(
      holders.map((holder) => acquireLeases(sql, { holder, ttlMs: HOUR_MS })),
    );
    expect(got.flat().map((lease) => lease.epoch)).toEqual([epoch, epoch]);
    expect(new Set(got.flat().map(({ location }) => location)).size).toBe(2);
    await expire();
  }
});

it('a released lease is free immediately; a release by a former holder has no effect', async () => {
  const { sql } = database;
  const first = await acquireLeases(sql, { holder: one, ttlMs: HOUR_MS });
  await releaseLeases(sql, first);
  expect(await acquireLeases(sql, { holder: two, ttlMs: HOUR_MS })).toHaveLength(2);
  await releaseLeases(sql, first);
  expect(await acquireLeases(sql, { holder: one, ttlMs: HOUR_MS })).toEqual([]);
});

it('the lease of a new location is free', async () => {
  const { sql } = database;
  await acquireLeases(sql, { holder: one, ttlMs: HOUR_MS });
  await sql`insert into locations (name, region, zone) values ('ap-south-a', 'ap-south', 'a')`;
  expect(await acquireLeases(sql, { holder: two, ttlMs: HOUR_MS })).toEqual([
    { location: 'ap-south-a', holder: two, epoch: 1 },
  ]);
  await sql`delete from locations where name = 'ap-south-a'`;
});

it('a lease that expires while its holder writes cannot be acquired before the write ends', async () => {
  const { sql } = database;
  const [lease] = await acquireLeases(sql, { holder: one, ttlMs: HOUR_MS });
  if (!lease) throw new Error('no lease');
  await sql.begin(async (tx) => {
    expect(await lockLease(tx, lease)).toBe(true);
    await expire();
    const others = await acquireLeases(sql, { holder: two, ttlMs: HOUR_MS });
    expect(others.map(({ location }) => location)).not.toContain(lease.location);
  });
  const after = await acquireLeases(sql, { holder: two, ttlMs: HOUR_MS });
  expect(after.map(({ location }) => location)).toContain(lease.location);
});

it('a write of a former holder is refused', async () => {
  const { sql } = database;
  const [lease] = await acquireLeases(sql, { holder: one, ttlMs: HOUR_MS });
  if (!lease) throw new Error('no lease');
  const held = (mine: typeof lease) => sql.begin((tx) => lockLease(tx, mine));
  expect(await held(lease)).toBe(true);
  await expire();
  expect(await held(lease)).toBe(false);
  await acquireLeases(sql, { holder: two, ttlMs: HOUR_MS });
  expect(await held(lease)).toBe(false);
  expect(await held({ ...lease, holder: two })).toBe(false);
  expect(await held({ ...lease, holder: two, epoch: 2 })).toBe(true);
});

it('a holder that is paused during a write loses the lease and writes nothing later', async () => {
  const { sql } = database;
  const [lease] = await acquireLeases(sql, { holder: one, ttlMs: HOUR_MS });
  if (!lease) throw new Error('no lease');
  let takenOver = false;
  const late = sql.begin(async (tx) => {
    expect(await lockLease(tx, lease)).toBe(true);
    await expire();
    // Paused here until another holder has the lease.
    await vi.waitFor(
      async () => {
        const got = await acquireLeases(sql, { holder: two, ttlMs: HOUR_MS });
        expect(got.map(({ location }) => location)).toContain(lease.location);
      },
      { timeout: 30_000, interval: 50 },
    );
    takenOver = true;
    await tx`insert into availabilities (location, vm_type, available) values (${lease.location}, 'a40.1x', true)`;
  });
  await expect(late).rejects.toThrow();
  await vi.waitFor(() => expect(takenOver).toBe(true), { timeout: 30_000 });
  expect(await sql`select from availabilities`).toHaveLength(0);
});

it('the hosts of a holder whose lease expired are silent until its next heartbeat', async () => {
  const { sql } = database;
  const beat = async () => {
    await recordHeartbeat(sql, { schedulerId: one, address: '' });
    // A busy machine may take long until the next statement.
    await sql`update schedulers set last_seen_at = now() + interval '1 hour' where id = ${one}`;
  };
  const silent = () =>
    listSilentPlacementHosts(sql, { location: 'eu-north-a', schedulerSilentMs: SILENT_MS });
  const [host] = await addHosts(sql, 1);
  await beat();
  await openStream(sql, { hostId: host?.id ?? '', schedulerId: one });
  await acquireLeases(sql, { holder: one, ttlMs: HOUR_MS });
  expect(await silent()).toEqual([]);
  await expire();
  await acquireLeases(sql, { holder: two, ttlMs: HOUR_MS });
  expect(await silent()).toEqual([host?.id]);
  await beat();
  expect(await silent()).toEqual([]);
});
