import { newId } from '@gantry/model/ids';
import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { addProject } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Queryable } from '../../connect.ts';
import { insertDeliveries, readDueDeliveries, updateAttempted } from './webhook-attempts.ts';

const PENDING = 5_000;
/** More than the rows that a statement about a few deliveries reads, and far less than all that are pending. */
const FEW = 100;
const webhookId = newId();
let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
  const { sql } = database;
  const projectId = await addProject(sql);
  await sql`insert into webhooks (id, project_id, name, url, event_types, description, sealed_secret)
    values (${webhookId}, ${projectId}, 'w', 'https://example.com/', '{}', '', 'x')`;
  await add(sql, PENDING);
});
afterAll(() => database.drop());

const add = (sql: Queryable, count: number) => {
  const deliveries = Array.from({ length: count }, () => ({
    ...{ eventId: newId(), eventType: 'event', resourceId: newId(), body: '{}', position: null },
  }));
  return insertDeliveries(sql, { webhookId, giveUpMs: 60_000, deliveries });
};

/** How many rows of the table a piece of work reads. */
const rowsRead = (work: (sql: Queryable) => Promise<unknown>): Promise<number> =>
  database.sql.begin(async (tx) => {
    const read = async () => {
      const [found] = await tx<{ rows: number }[]>`
        select (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int as rows
        from pg_stat_xact_user_tables where relname = 'webhook_deliveries'`;
      return found?.rows ?? 0;
    };
    const before = await read();
    await work(tx);
    return (await read()) - before;
  });

it('recording a few attempts reads a few deliveries, however many are pending', async () => {
  const due = await readDueDeliveries(database.sql, { webhookId, inFlight: [], limit: 10 });
  const attempts = due.map(({ id }, index) => ({
    ...{ deliveryId: id, succeeded: index % 2 === 0, statusCode: 200, latencyMs: 1 },
    ...{ error: '', pauseMs: 1 },
  }));
  let ended = 0;
  const rows = await rowsRead(async (sql) => {
    ended = await updateAttempted(sql, { webhookId, attempts });
  });
  expect(ended).toBe(5);
  expect(rows).toBeLessThan(FEW);
});

it('adding a few deliveries reads a few, however many are pending', async () => {
  expect(await rowsRead((sql) => add(sql, 10))).toBeLessThan(FEW);
});
