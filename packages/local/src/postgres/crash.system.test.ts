import { spawn } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  guardPid,
  killHard,
  makeScratch,
  query,
  type Scratch,
  until,
  untilGone,
} from '../testing/scratch.ts';
import { startEmbeddedPostgres } from './embedded-postgres.ts';

let scratch: Scratch;

beforeAll(async () => {
  scratch = await makeScratch();
});
afterAll(() => scratch.clean());

const keep = (url: string, table: string) => query(url, `create table ${table} as select 7 as n`);
const expectKept = async (url: string, table: string) =>
  expect(await query(url, `select n from ${table}`)).toEqual([{ n: 7 }]);

describe('a restart recovers', () => {
  test('committed rows after everything was killed at once', async () => {
    const home = scratch.home('killed');
    const owner = await scratch.owner(home);
    await keep(owner.databaseUrl, 'everything');
    await killHard(owner.child.pid, await guardPid(home), owner.pid);

    const server = await startEmbeddedPostgres({ home });
    await expectKept(server.databaseUrl, 'everything');
    await server.stop();
  });

  test('from a server killed during a statement, after its child processes have exited', async () => {
    const home = scratch.home('killed');
    const owner = await scratch.owner(home);
    await keep(owner.databaseUrl, 'amid');
    const busy = query(
      owner.databaseUrl,
      `do $$ begin while clock_timestamp() < now() + interval '15 s' loop end loop; end $$`,
    );
    const ended = busy.catch(() => 'cut off');
    await until(async () => {
      const found = await query(
        owner.databaseUrl,
        `select 1 from pg_stat_activity where state = 'active' and query like 'do %' and pid <> pg_backend_pid()`,
      );
      return found.length > 0;
    });
    await killHard(owner.child.pid, await guardPid(home), owner.pid);

    const server = await startEmbeddedPostgres({ home });
    await expectKept(server.databaseUrl, 'amid');
    await server.stop();
    await ended;
    expect(await readFile(path.join(home, 'postgres.log'), 'utf8')).toContain('still in use');
  });

  test('from a killed owner, whose guard shuts the server down cleanly', async () => {
    const home = scratch.home('guarded');
    const owner = await scratch.owner(home);
    await killHard(owner.child.pid);
    await untilGone(owner.pid);
    const log = await readFile(path.join(home, 'postgres.log'), 'utf8');
    expect(log).toContain('database system is shut down');
  });

  test('from a killed owner at once, with a server that keeps running', async () => {
    const home = scratch.home('guarded');
    const owner = await scratch.owner(home);
    await keep(owner.databaseUrl, 'at_once');
    owner.child.kill('SIGKILL');
    const server = await startEmbeddedPostgres({ home });
    await untilGone(owner.pid);
    await expectKept(server.databaseUrl, 'at_once');
    expect(await server.isRunning()).toBe(true);
    await server.stop();
  });

  test('from a killed owner and guard, by taking over the running server', async () => {
    const home = scratch.home('orphan');
    const owner = await scratch.owner(home);
    await killHard(await guardPid(home), owner.child.pid);
    const server = await startEmbeddedPostgres({ home });
    expect(server.pid).toBe(owner.pid);
    expect(server.databaseUrl).toBe(owner.databaseUrl);
    await server.stop();
    await untilGone(owner.pid);
  });

  test('from a pid file that names another program', async () => {
    const home = scratch.home('recycled');
    const owner = await scratch.owner(home);
    await keep(owner.databaseUrl, 'recycled');
    await killHard(owner.child.pid, await guardPid(home), owner.pid);
    const other = spawn('sleep', ['600'], { stdio: 'ignore' });
    const file = path.join(home, 'postgres/data/postmaster.pid');
    const lines = (await readFile(file, 'utf8')).split('\n');
    await writeFile(file, [`${other.pid}`, ...lines.slice(1)].join('\n'));

    try {
      const server = await startEmbeddedPostgres({ home });
      await expectKept(server.databaseUrl, 'recycled');
      expect(other.exitCode).toBeNull();
      await server.stop();
    } finally {
      other.kill();
    }
  });

  test('from an interrupted initdb, by removing its files and starting it again', async () => {
    const home = scratch.home('initdb');
    const child = scratch.beginOwner(home);
    const cluster = path.join(home, 'postgres');
    const list = () => readdir(cluster).catch(() => []);
    await until(async () => (await list()).some((name) => name.startsWith('data.init-')));
    await killHard(child.pid);
    expect(await list()).not.toContain('data');

    const server = await startEmbeddedPostgres({ home });
    const names = (await list()).map((name) => name.replace(/-.*/, ''));
    expect(names.sort()).toEqual(['data', 'files']);
    await server.stop();
  });
});
