import { openBlackHole } from '@gantry/testkit/database/black-hole';
import { type OwnServer, startOwnServer } from '@gantry/testkit/database/own-server';
import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect } from './connect.ts';
import { toCloudError } from './errors.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

describe('a connection', () => {
  it('has limits for statements, locks and idle transactions, and ends if its client is gone', async () => {
    const sql = connect({ url: database.url, name: 'default' });
    const settings = await sql<{ name: string; setting: string }[]>`
      select name, setting from pg_settings where source = 'client' and name = any(${[
        'statement_timeout',
        'lock_timeout',
        'idle_in_transaction_session_timeout',
        'tcp_user_timeout',
        'tcp_keepalives_idle',
        'tcp_keepalives_interval',
        'tcp_keepalives_count',
        'client_connection_check_interval',
      ]}::text[])`;
    await sql.end();
    expect(Object.fromEntries(settings.map(({ name, setting }) => [name, setting]))).toEqual({
      statement_timeout: '10000',
      lock_timeout: '8000',
      idle_in_transaction_session_timeout: '10000',
      tcp_user_timeout: '10000',
      tcp_keepalives_idle: '5',
      tcp_keepalives_interval: '2',
      tcp_keepalives_count: '3',
      client_connection_check_interval: '5000',
    });
  });

  it('of a migration waits as long as it has to', async () => {
    const sql = connect({ url: database.url, name: 'unlimited', statementLimitMs: 0 });
    const [row] = await sql`select current_setting('statement_timeout') as statement,
      current_setting('lock_timeout') as lock`;
    await sql.end({ timeout: 1 });
    expect(row).toEqual({ statement: '0', lock: '0' });
  });

  it('returns whole results after a statement that failed in the middle of its rows', async () => {
    const sql = connect({ url: database.url, name: 'interrupted', maxConnections: 1 });
    const failed = sql`select 1 / (4 - i) from generate_series(1, 10) i`.catch(toCloudError);
    const pipelined = sql`select i from generate_series(1, 3) i`;
    const results = [await failed, await pipelined, await sql`select 7 as i`];
    await sql.end({ timeout: 1 });
    expect(results).toEqual([expect.any(Error), [{ i: 1 }, { i: 2 }, { i: 3 }], [{ i: 7 }]]);
  });

  it('ends a statement that takes too long, and the request is safe to repeat', async () => {
    const sql = connect({ url: database.url, name: 'hasty', statementLimitMs: 50 });
    const error = await sql`select pg_sleep(30)`.catch(toCloudError);
    await sql.end({ timeout: 1 });
    expect(error).toMatchObject({ code: 'unavailable' });
  });

  it('to a server that does not reply fails within seconds', async () => {
    const hole = await openBlackHole(database.url);
    hole.swallow();
    const sql = connect({ url: hole.url, name: 'unheard', maxConnections: 1 });
    const askedAt = performance.now();
    const error = await sql`select 1`.catch(toCloudError);
    expect(error).toMatchObject({ code: 'unavailable' });
    expect(performance.now() - askedAt).toBeLessThan(10_000);
    hole.release();
    await expect.poll(() => sql`select 1 as one`.catch(() => 'failed')).toEqual([{ one: 1 }]);
    await sql.end({ timeout: 1 });
    hole.close();
  });
});

describe('a server that restarts', () => {
  let server: OwnServer;
  beforeAll(async () => {
    server = await startOwnServer();
  });
  afterAll(() => server.remove());

  it('is used again as soon as it accepts connections', async () => {
    const sql = connect({ url: server.url, name: 'patient', maxConnections: 4 });
    const replies = () =>
      sql`select 1`.then(
        () => true,
        () => false,
      );
    expect(await replies()).toBe(true);
    await server.stop();
    // With the driver's own pauses the connections would now wait for up to 20 s.
    for (let failures = 0; failures < 40; failures += 1) expect(await replies()).toBe(false);
    await server.start();
    const readyAt = performance.now();
    await expect.poll(replies, { interval: 10 }).toBe(true);
    // The goal is one second. A busy machine needs more, and the driver's own pauses are longer.
    expect(performance.now() - readyAt).toBeLessThan(10_000);
    await sql.end({ timeout: 1 });
  });
});
