import { chown, lstat, mkdir, readlink, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { killHard, makeScratch, query, type Scratch, untilGone } from '../testing/scratch.ts';
import { startEmbeddedPostgres } from './embedded-postgres.ts';

const USER = { uid: 65534, gid: 65534 };
let scratch: Scratch;

beforeAll(async () => {
  scratch = await makeScratch();
});
afterAll(() => scratch.clean());

describe.runIf(process.getuid?.() === 0)('started by root', () => {
  test('root runs the server as the user "nobody", which owns its files', async () => {
    const server = await startEmbeddedPostgres({ home: scratch.home('root') });
    expect(await stat(server.dataDirectory)).toMatchObject(USER);
    expect(await stat(`/proc/${server.pid}`)).toMatchObject(USER);
    await server.stop();
  });

  test('if the home is in a closed directory, it contains a link to the cluster', async () => {
    await mkdir(path.join(scratch.directory, 'closed'), { mode: 0o700 });
    const home = scratch.home('closed/home');
    const server = await startEmbeddedPostgres({ home });
    const link = path.join(home, 'postgres');
    expect((await lstat(link)).isSymbolicLink()).toBe(true);
    const elsewhere = await readlink(link);
    expect(elsewhere).toMatch(/^\/var\/lib\/gantry\/[0-9a-f]{16}$/);
    expect((await stat(home)).mode & 0o777).toBe(0o700);
    await query(server.databaseUrl, 'create table kept as select 7 as n');
    await server.stop();

    const again = await startEmbeddedPostgres({ home });
    expect(await readlink(link)).toBe(elsewhere);
    expect(await query(again.databaseUrl, 'select n from kept')).toEqual([{ n: 7 }]);
    await again.stop();
    await rm(elsewhere, { recursive: true });
    await expect(startEmbeddedPostgres({ home })).rejects.toThrow(
      'directory that does not exist any more',
    );
  });

  test('root can start a cluster that an ordinary user created', async () => {
    const home = scratch.home('user');
    await mkdir(home, { mode: 0o700 });
    await chown(home, USER.uid, USER.gid);
    const owner = await scratch.owner(home, USER);
    await query(owner.databaseUrl, 'create table kept as select 7 as n');
    expect((await stat(home)).mode & 0o777).toBe(0o700);
    await killHard(owner.child.pid);
    await untilGone(owner.pid);

    const server = await startEmbeddedPostgres({ home });
    expect(await stat(`/proc/${server.pid}`)).toMatchObject(USER);
    expect(await query(server.databaseUrl, 'select n from kept')).toEqual([{ n: 7 }]);
    await server.stop();
  });
});
