import { createLog } from '@gantry/daemon/log';
import { newId } from '@gantry/model/ids';
import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cleanUp } from './clean-up.ts';

let database: TestDatabase;
const log = createLog({ process: 'scheduler', level: 'silent' });
const userId = newId();

beforeAll(async () => {
  database = await createTestDatabase();
  await database.sql`insert into users (id, email, password_hash) values (${userId}, 'a@b.test', 'none')`;
});
afterAll(() => database.drop());

const insertKeys = (count: number, age: string) =>
  database.sql`insert into idempotency_keys (actor_id, key, request_hash, reply, sealed, created_at)
    select ${userId}, ${age} || n, '', ${age}, false, now() - ${age}::text::interval from generate_series(1, ${count}::int) n`;
const insertTokens = (count: number, expired: string) =>
  database.sql`insert into refresh_tokens (hash, family_id, user_id, used_at, expires_at)
    select ${expired} || n, ${newId()}, ${userId}, now(), now() - ${expired}::text::interval from generate_series(1, ${count}::int) n`;
/** For a VM that does not exist: the clean-up does not read it. */
const insertTickets = (count: number, expired: string) =>
  database.sql.begin(async (sql) => {
    await sql`set local session_replication_role = replica`;
    await sql`insert into console_tickets (hash, vm_id, actor_type, actor_id, expires_at)
      select ${expired} || n, ${newId()}, 'user', ${userId}, now() - ${expired}::text::interval from generate_series(1, ${count}::int) n`;
  });
const left = async () => {
  const [row] = await database.sql`
    select (select count(*)::int from idempotency_keys) as keys, (select count(*)::int from refresh_tokens) as tokens,
      (select count(*)::int from console_tickets) as tickets`;
  return row;
};

it('expired rows are removed in batches up to a limit per run, and other rows stay', async () => {
  const { sql } = database;
  await insertKeys(25, '24 hours 1 second');
  await insertKeys(3, '23 hours 59 minutes');
  await insertTokens(7, '7 days 1 second');
  await insertTokens(2, '6 days 23 hours');
  await insertTokens(2, '-1 hours');
  await insertTickets(5, '1 second');
  await insertTickets(3, '-1 minutes');
  await cleanUp({ sql, log, batchRows: 10, maxBatches: 2 });
  expect(await left()).toEqual({ keys: 8, tokens: 4, tickets: 3 });
  await Promise.all([cleanUp({ sql, log, batchRows: 10 }), cleanUp({ sql, log, batchRows: 10 })]);
  expect(await left()).toEqual({ keys: 3, tokens: 4, tickets: 3 });
});

it('events of the payment provider are kept for 90 days, because it may repeat them', async () => {
  const { sql } = database;
  const insert = (id: string, age: string) =>
    sql`insert into payment_events (id, type, created_at) values (${id}, 'invoice.paid', now() - ${age}::text::interval)`;
  await insert('evt_old', '91 days');
  await insert('evt_recent', '89 days');
  await cleanUp({ sql, log });
  expect(await sql`select id from payment_events`).toEqual([{ id: 'evt_recent' }]);
});
