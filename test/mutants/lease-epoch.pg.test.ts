import { acquireLeases, lockLease, releaseLeases } from '@gantry/db/queries/placement/leases';
import { newId } from '@gantry/model/ids';
import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { afterAll, beforeAll, expect, it } from 'vitest';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

it('a holder that lost its lease and took it again cannot write under the first one', async () => {
  const { sql } = database;
  const holder = newId();
  const [first] = await acquireLeases(sql, { holder, ttlMs: 60_000 });
  if (!first) throw new Error('there is no location');
  await releaseLeases(sql, [first]);
  const again = await acquireLeases(sql, { holder, ttlMs: 60_000 });
  const second = again.find(({ location }) => location === first.location);
  expect(second?.epoch).toBe(first.epoch + 1);
  expect(await sql.begin((tx) => lockLease(tx, first))).toBe(false);
  expect(second && (await sql.begin((tx) => lockLease(tx, second)))).toBe(true);
});
