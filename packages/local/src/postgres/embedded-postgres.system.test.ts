import { stat } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeScratch, query, type Scratch } from '../testing/scratch.ts';
import { startEmbeddedPostgres } from './embedded-postgres.ts';

const isRoot = process.getuid?.() === 0;
let scratch: Scratch;

beforeAll(async () => {
  scratch = await makeScratch();
});
afterAll(() => scratch.clean());

const modeOf = async (file: string) => (await stat(file)).mode & 0o777;

describe('a new home', () => {
  test('gets a durable cluster that keeps its rows when it is stopped', async () => {
    const home = scratch.home('fresh');
    const first = await startEmbeddedPostgres({ home });
    const [settings] = await query(
      first.databaseUrl,
      `select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit,
         current_setting('listen_addresses') as address, current_setting('unix_socket_directories') as sockets,
         current_setting('max_connections') as connections, current_setting('server_encoding') as encoding,
         current_setting('password_encryption') as passwords, current_database() as database`,
    );
    expect(settings).toEqual({
      fsync: 'on',
      commit: 'on',
      address: '127.0.0.1',
      sockets: '',
      connections: '200',
      encoding: 'UTF8',
      passwords: 'scram-sha-256',
      database: 'gantry',
    });
    expect(await modeOf(first.dataDirectory)).toBe(0o700);
    expect(await modeOf(`${home}/postgres-password`)).toBe(0o600);
    expect(await modeOf(`${home}/postgres.log`)).toBe(0o600);
    expect(await modeOf(home)).toBe(isRoot ? 0o711 : 0o700);
    await query(first.databaseUrl, 'create table kept as select 7 as n');
    await first.stop();
    expect(await first.isRunning()).toBe(false);

    const second = await startEmbeddedPostgres({ home });
    expect(await query(second.databaseUrl, 'select n from kept')).toEqual([{ n: 7 }]);
    await second.stop();
  });

  test('has a server that refuses a wrong password', async () => {
    const server = await startEmbeddedPostgres({ home: scratch.home('fresh') });
    const url = server.databaseUrl.replace(/:[^:@]+@/, ':wrong@');
    await expect(query(url, 'select 1')).rejects.toMatchObject({ code: '28P01' });
    await server.stop();
  });

  test('cannot be used by two processes at once', async () => {
    const home = scratch.home('fresh');
    const server = await startEmbeddedPostgres({ home });
    await expect(startEmbeddedPostgres({ home })).rejects.toThrow('in use by another process');
    expect(await query(server.databaseUrl, 'select 1 as one')).toEqual([{ one: 1 }]);
    await server.stop();
  });
});
