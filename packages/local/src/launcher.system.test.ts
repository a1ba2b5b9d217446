import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { findFreePort, startEmbeddedPostgres } from './postgres/embedded-postgres.ts';
import { observePostmaster } from './postgres/postmaster.ts';
import { killHard, makeScratch, query, type Scratch, until, untilGone } from './testing/scratch.ts';
import {
  type Launched,
  makeCheckout,
  pidsIn,
  readConnectionFile,
  runLauncher,
} from './testing/stand-in.ts';

let scratch: Scratch;
let checkout: string;
const launched: Launched[] = [];

beforeAll(async () => {
  scratch = await makeScratch();
  checkout = await makeCheckout(path.join(scratch.directory, 'checkout'));
});
afterEach(async () => {
  for (const { child, ended } of launched.splice(0)) {
    child.kill('SIGKILL');
    await ended;
  }
});
afterAll(() => scratch.clean());

const start = (home: string, environment: NodeJS.ProcessEnv = {}) => {
  const launcher = runLauncher(checkout, { GANTRY_HOME: home, ...environment });
  launched.push(launcher);
  return launcher;
};
const stop = async ({ child, ended }: Launched) => {
  child.kill('SIGINT');
  expect(await ended).toBe(0);
};
const replies = async ({ base_url, access_key }: { base_url: string; access_key: string }) =>
  (await fetch(`${base_url}/v0.1`, { headers: { authorization: `Bearer ${access_key}` } })).status;

describe('the launcher', () => {
  test('starts everything, prints how to use it, and stops everything', async () => {
    const home = scratch.home('one');
    const launcher = start(home);
    await launcher.says('Gantry is running');
    const connection = await readConnectionFile(home);
    expect(await replies(connection)).toBe(200);
    expect((await stat(path.join(home, 'connection.json'))).mode & 0o777).toBe(0o600);
    for (const shown of [...Object.values(connection), 'ssh-ed25519 AAAA', '/vms/operations']) {
      await launcher.says(shown);
    }
    const pids = [
      ...(await pidsIn(path.join(home, 'api.log'))),
      ...(await pidsIn(path.join(home, 'scheduler.log'))),
      ...(await pidsIn(path.join(home, 'fleet.log'))),
    ];
    expect(pids).toHaveLength(3);
    const server = await observePostmaster(path.join(home, 'postgres/data'));
    await stop(launcher);
    for (const pid of [...pids, server?.pid ?? 0]) await untilGone(pid);
  });

  test('keeps its credentials when it restarts, and replaces damaged ones', async () => {
    const home = scratch.home('one');
    const before = await readConnectionFile(home);
    const second = start(home);
    await second.says('Gantry is running');
    const kept = await readConnectionFile(home);
    expect({ ...kept, base_url: '' }).toEqual({ ...before, base_url: '' });
    await stop(second);

    await writeFile(path.join(home, 'connection.json'), '{"base_url": "http');
    const third = start(home);
    await third.says('Gantry is running');
    const made = await readConnectionFile(home);
    expect(made.access_key).not.toBe(kept.access_key);
    expect(await replies(made)).toBe(200);
    await stop(third);
  });

  test('uses DATABASE_URL, and creates new credentials for another database', async () => {
    const database = await startEmbeddedPostgres({ home: scratch.home('elsewhere') });
    const home = scratch.home('one');
    const before = await readConnectionFile(home);
    const launcher = start(home, { DATABASE_URL: database.databaseUrl });
    await launcher.says('Gantry is running');
    const made = await readConnectionFile(home);
    expect(made.access_key).not.toBe(before.access_key);
    expect(await query(database.databaseUrl, 'select key from keys')).toEqual([
      { key: made.access_key },
    ]);
    expect(await observePostmaster(path.join(home, 'postgres/data'))).toBeUndefined();
    await stop(launcher);
    await database.stop();
  });

  test('simulates no hosts with DATABASE_URL, unless GANTRY_FLEET_HOSTS is set', async () => {
    const database = await startEmbeddedPostgres({ home: scratch.home('elsewhere') });
    const given = { DATABASE_URL: database.databaseUrl };
    const home = scratch.home('unsimulated');
    const plain = start(home, given);
    await plain.says('Gantry is running');
    await expect(stat(path.join(home, 'fleet.log'))).rejects.toThrow('ENOENT');
    await stop(plain);
    const hosts = 'eu-north-a:a40-8=1';
    const asked = start(home, { ...given, GANTRY_FLEET_HOSTS: hosts });
    await asked.says('Gantry is running');
    expect(await readFile(path.join(home, 'fleet.log'), 'utf8')).toContain(hosts);
    await stop(asked);
    await database.stop();
  });

  test('refuses to start twice with the same home, and names the first process', async () => {
    const home = scratch.home('one');
    const first = start(home);
    await first.says('Gantry is running');
    const second = start(home);
    expect(await second.ended).toBe(1);
    const { base_url } = await readConnectionFile(home);
    expect(second.output()).toContain(`in use by process ${first.child.pid}, at ${base_url}.`);
    await stop(first);
  });

  test('restarts a process that dies, on the same port', async () => {
    const home = scratch.home('one');
    const launcher = start(home);
    await launcher.says('Gantry is running');
    const connection = await readConnectionFile(home);
    await killHard((await pidsIn(path.join(home, 'api.log'))).at(-1));
    await launcher.says('The api is running again.');
    expect(await replies(connection)).toBe(200);

    const server = await observePostmaster(path.join(home, 'postgres/data'));
    await killHard(server?.pid);
    await launcher.says('PostgreSQL is running again.');
    await until(async () => (await replies(connection)) === 200);
    await stop(launcher);
  });

  test('leaves no process behind when it is killed, and can start again', async () => {
    const home = scratch.home('one');
    const launcher = start(home);
    await launcher.says('Gantry is running');
    const api = (await pidsIn(path.join(home, 'api.log'))).at(-1) ?? 0;
    const server = await observePostmaster(path.join(home, 'postgres/data'));
    await killHard(launcher.child.pid);
    await untilGone(api);
    await untilGone(server?.pid ?? 0);
    const again = start(home);
    await again.says('Gantry is running');
    await stop(again);
  });

  test('exits at once at the second signal and leaves no process behind', async () => {
    const home = scratch.home('one');
    const launcher = start(home, { STAND_IN_HANGS: '1' });
    await launcher.says('Gantry is running');
    const pids = [
      (await pidsIn(path.join(home, 'api.log'))).at(-1) ?? 0,
      (await pidsIn(path.join(home, 'scheduler.log'))).at(-1) ?? 0,
      (await observePostmaster(path.join(home, 'postgres/data')))?.pid ?? 0,
    ];
    // The first two signals are too close together to count as two.
    await until(async () => {
      launcher.child.kill('SIGINT');
      return launcher.child.exitCode !== null;
    });
    expect(await launcher.ended).toBe(1);
    for (const pid of pids) await untilGone(pid);
  });

  test('prints the last log lines of a process that does not start, and stops the rest', async () => {
    const home = scratch.home('one');
    const launcher = start(home, { STAND_IN_BREAKS: '1' });
    expect(await launcher.ended).toBe(1);
    expect(launcher.output()).toContain('this scheduler is broken');
    expect(await observePostmaster(path.join(home, 'postgres/data'))).toBeUndefined();
    await untilGone((await pidsIn(path.join(home, 'api.log'))).at(-1) ?? 0);
  });

  test('names GANTRY_PORT when the port is taken', async () => {
    const port = await findFreePort();
    const other = createServer().listen(port, '127.0.0.1');
    const launcher = start(scratch.home('one'), { GANTRY_PORT: `${port}` });
    expect(await launcher.ended).toBe(1);
    expect(launcher.output()).toContain(`Port ${port} on 127.0.0.1 is taken`);
    expect(launcher.output()).toContain('GANTRY_PORT');
    other.close();
  });

  test('keeps the secret key in the home, unless the environment sets one', async () => {
    const home = scratch.home('one');
    const file = path.join(home, 'secret-key');
    expect(Buffer.from((await readFile(file, 'utf8')).trim(), 'base64url')).toHaveLength(32);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    await rm(file);
    const launcher = start(home, { GANTRY_SECRET_KEY: 'x'.repeat(43) });
    await launcher.says('Gantry is running');
    await expect(stat(file)).rejects.toThrow('ENOENT');
    await stop(launcher);
  });
});
