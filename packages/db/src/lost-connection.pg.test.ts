import { type AddressInfo, createServer, connect as dial, type Socket } from 'node:net';
import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect, type Sql, type Transaction } from './connect.ts';
import { toCloudError } from './errors.ts';

/**
 * A database that restarts closes connections at any moment. These tests check what Gantry relies
 * on in the driver, with the patch in patches/: every statement settles, and none runs in another
 * session.
 */
let database: TestDatabase;
let sql: Sql;

beforeAll(async () => {
  database = await createTestDatabase();
  await database.sql`create table marks (name text primary key)`;
  sql = connect({ url: database.url, name: 'lost', maxConnections: 1 });
});
afterAll(async () => {
  await sql.end({ timeout: 5 });
  await database.drop();
});

async function cut(pid: unknown): Promise<void> {
  await database.sql`select pg_terminate_backend(${Number(pid)}, 5000)`;
}
const marks = async () =>
  (await database.sql`select name from marks order by name`).map(({ name }) => name);

/** The next statement may still use the connection that is being closed. */
const poolWorks = () =>
  expect.poll(() => sql`select 1 as one`.catch(() => 'cut')).toEqual([{ one: 1 }]);

describe('a connection lost in the middle of a transaction', () => {
  it('fails the transaction as unavailable, and the pool keeps working', async () => {
    const transaction = sql.begin(async (tx) => {
      await tx`insert into marks values ('before')`;
      const [row] = await tx`select pg_backend_pid() as pid`;
      await cut(row?.['pid']);
      await tx`insert into marks values ('after')`;
    });
    const error = await transaction.catch(toCloudError);
    expect(error).toMatchObject({ code: 'unavailable' });
    await poolWorks();
    expect(await marks()).toEqual([]);
  });

  it('never runs the rest of the transaction in the session that replaces it', async () => {
    let goOn = () => {};
    const rest = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const outcomes: unknown[] = [];
    const transaction = sql.begin(async (tx) => {
      const [row] = await tx`select pg_backend_pid() as pid`;
      await cut(row?.['pid']);
      await rest;
      outcomes.push(await tx`insert into marks values ('stray')`.catch(toCloudError));
    });
    await expect(transaction).rejects.toThrow();
    // The only connection of the pool is a new session now.
    await poolWorks();
    await sql`insert into marks values ('other')`;
    goOn();
    await expect.poll(() => outcomes).toMatchObject([{ code: 'unavailable' }]);
    expect(await marks()).toEqual(['other']);
  });

  it('settles every statement, whenever it is cut', async () => {
    for (let round = 0; round < 20; round += 1) {
      const statements = Array.from({ length: 20 }, (_, i) =>
        sql`select ${i}::int as i, pg_sleep(0.001)`.catch(() => 'failed'),
      );
      const [backend] = await database.sql`
        select pid from pg_stat_activity where application_name = 'lost' and datname = current_database()`;
      if (backend) await cut(backend['pid']);
      expect(await Promise.all(statements)).toHaveLength(20);
    }
    await poolWorks();
  });

  it('settles statements between a reset of the connection and its end', async () => {
    const near = new Set<Socket>();
    const { hostname: host, port } = new URL(database.url);
    const server = createServer((socket) => {
      const far = dial({ host, port: Number(port) });
      near.add(socket);
      socket.pipe(far).pipe(socket);
      for (const end of [socket, far]) end.on('error', () => end.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = new URL(database.url);
    url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const through = connect({ url: url.href, name: 'reset', maxConnections: 1 });
    await through`select 1`;
    const first = through`select pg_sleep(10)`.catch(() => 'reset');
    await expect
      .poll(() => database.sql`select from pg_stat_activity where query = 'select pg_sleep(10)'`)
      .toHaveLength(1);
    for (const socket of near) socket.resetAndDestroy();
    const second = first.then(() => through`select 2 as two`.catch(() => 'failed'));
    const limit = new Promise((resolve) => setTimeout(resolve, 30_000, 'no reply'));
    expect(await Promise.race([second, limit])).not.toBe('no reply');
    await through.end({ timeout: 1 });
    server.close();
  });
});

describe('a connection lost during COMMIT', () => {
  it('is reported as unavailable with an unknown outcome, because the change may be written', async () => {
    const { hostname: host, port } = new URL(database.url);
    // The server receives the COMMIT; its reply is lost.
    const server = createServer((near) => {
      const far = dial({ host, port: Number(port) });
      let replies = true;
      near.on('data', (bytes) => {
        if (bytes.includes('commit')) replies = false;
        far.write(bytes);
      });
      far.on('data', (bytes) => (replies ? near.write(bytes) : near.destroy()));
      for (const end of [near, far]) end.on('error', () => end.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = new URL(database.url);
    url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const through = connect({ url: url.href, name: 'lost-reply', maxConnections: 1 });
    const error = await through
      .begin((tx) => tx`insert into marks values ('kept')`)
      .catch(toCloudError);
    expect(error).toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('A change may have been made'),
    });
    expect(await marks()).toContain('kept');
    await database.sql`delete from marks where name = 'kept'`;
    await through.end({ timeout: 1 });
    server.close();
  });
});

describe('a transaction that failed', () => {
  it('runs no further statement of its other branches', async () => {
    let goOn = () => {};
    const rest = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const outcomes: unknown[] = [];
    const branch = async (tx: Transaction) => {
      await rest;
      outcomes.push(await tx`insert into marks values ('branch')`.catch(() => 'refused'));
    };
    const transaction = sql.begin((tx) => Promise.all([tx`select 1 / 0`, branch(tx)]));
    await expect(transaction).rejects.toThrow('division by zero');
    goOn();
    await expect.poll(() => outcomes).toEqual(['refused']);
    expect(await marks()).not.toContain('branch');
  });
});
