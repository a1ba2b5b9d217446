import { createServer, connect as dial, type Server } from 'node:net';
import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connect } from './connect.ts';
import { terminateIdleTransactions } from './queries/maintenance/idle-transactions.ts';
import { transact } from './transact.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await database.sql`create table things (name text primary key, number int not null)`;
  await database.sql`insert into things values ('a', 0)`;
});
afterAll(() => database.drop());

/** The message with which the driver ends the preparation of a statement. */
const FLUSH = Buffer.from([0x48, 0, 0, 0, 4]);

/** A proxy that forwards nothing after a statement with this text was prepared. */
async function stopAfterPreparing(text: string): Promise<{ url: string; server: Server }> {
  const url = new URL(database.url);
  const there = { host: url.hostname, port: Number(url.port) };
  const server = createServer((near) => {
    const far = dial(there);
    let stopped = false;
    near.on('data', (bytes) => {
      if (stopped) return;
      far.write(bytes);
      stopped = bytes.includes(text) && bytes.subarray(-FLUSH.length).equals(FLUSH);
    });
    far.on('data', (bytes) => near.write(bytes));
    for (const socket of [near, far]) socket.on('error', () => {});
    far.on('close', () => near.destroy());
    near.on('close', () => far.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  url.host = `127.0.0.1:${port}`;
  return { url: url.href, server };
}

/** Returns whether another transaction has locked the row. */
const isLocked = async () => {
  const free = await database.sql`select from things where name = 'a' for update skip locked`;
  return free.length === 0;
};

it('a process that stops between two statements loses its locks after a few seconds', async () => {
  const sql = connect({ url: database.url, name: 'gantry-stopped', maxConnections: 1 });
  await new Promise<void>((resolve) => {
    const stopped = transact(sql, async (tx) => {
      await tx`update things set number = number + 1 where name = 'a'`;
      resolve();
      await new Promise(() => {});
    });
    stopped.catch(() => {});
  });
  await database.sql`update things set number = 100 where name = 'a'`;
  await sql.end({ timeout: 0 });
  expect(await database.sql`select number from things`).toEqual([{ number: 100 }]);
});

it('any process terminates the session of one that stopped while it sent a statement', async () => {
  const { url, server } = await stopAfterPreparing('the last word');
  const sql = connect({ url, name: 'gantry-stopped', maxConnections: 1 });
  const stopped = transact(sql, async (tx) => {
    await tx`update things set number = number + 1 where name = 'a'`;
    await tx`select ${'x'}::text as "the last word"`;
  });
  stopped.catch(() => {});
  await expect.poll(isLocked).toBe(true);
  expect(await terminateIdleTransactions(database.sql, { afterMs: 60_000 })).toBe(0);
  await expect.poll(() => terminateIdleTransactions(database.sql, { afterMs: 200 })).toBe(1);
  await database.sql`update things set number = 200 where name = 'a'`;
  await sql.end({ timeout: 0 });
  server.close();
  expect(await database.sql`select number from things`).toEqual([{ number: 200 }]);
});

it('sessions that wait for a lock, work, or belong to other programs are not terminated', async () => {
  const stranger = connect({ url: database.url, name: 'psql', maxConnections: 1 });
  const waiting = connect({ url: database.url, name: 'gantry-waiting', maxConnections: 1 });
  await stranger.begin(async (tx) => {
    await tx`update things set number = 300 where name = 'a'`;
    const update = waiting`update things set number = number + 1 where name = 'a'`.execute();
    await expect
      .poll(() => database.sql`select from pg_stat_activity where wait_event_type = 'Lock'`)
      .toHaveLength(1);
    expect(await terminateIdleTransactions(database.sql, { afterMs: 0 })).toBe(0);
    return { update };
  });
  await expect.poll(() => database.sql`select number from things`).toEqual([{ number: 301 }]);
  await Promise.all([stranger.end({ timeout: 1 }), waiting.end({ timeout: 1 })]);
});
