import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ReplicatedPostgres } from './replicated-postgres.ts';

let directory: string;
let servers: ReplicatedPostgres;
let sql: postgres.Sql;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'gantry-replicated-'));
  servers = await ReplicatedPostgres.start(path.join(directory, 'home'));
  sql = postgres((await servers.link()).url, { max: 1, onnotice: () => {} });
  await sql`create table notes (text text)`;
});
afterAll(async () => {
  await sql?.end({ timeout: 1 });
  await servers?.stop();
  await rm(directory, { recursive: true, force: true });
});

const write = (text: string) => sql`insert into notes values (${text})`;
/** The first statement after a lost connection may fail; the next connects again. */
const read = async () => {
  const rows = await sql`select text from notes order by text`.catch(
    () => sql`select text from notes order by text`,
  );
  return rows.map(({ text }) => text);
};
const timeline = async () => (await sql`select timeline_id from pg_control_checkpoint()`)[0];

describe('PostgreSQL with a replica', () => {
  it('keeps what was committed when it is killed', async () => {
    await write('a');
    await servers.primary.kill();
    await servers.primary.start();
    expect(await read()).toEqual(['a']);
  });

  it('loses on a failover exactly what was committed while replication was held', async () => {
    await servers.addReplica();
    await write('b');
    await servers.caughtUp();
    servers.streaming.set({ is: 'hole', direction: 'both' });
    await write('lost');
    await servers.failOver();
    expect(await read()).toEqual(['a', 'b']);
    await write('c');
    expect(await read()).toEqual(['a', 'b', 'c']);
  });

  it('gets another replica after a failover, and loses nothing when that has caught up', async () => {
    await servers.addReplica();
    await write('d');
    await servers.caughtUp();
    await servers.failOver();
    expect(await read()).toEqual(['a', 'b', 'c', 'd']);
  });

  it.each(['same', 'new'] as const)(
    'has what a backup had after it is restored on the %s timeline',
    async (which) => {
      const before = await timeline();
      const backup = await servers.backUp();
      await write('z');
      await servers.restore(backup, { timeline: which });
      expect(await read()).toEqual(['a', 'b', 'c', 'd']);
      await sql`checkpoint`;
      if (which === 'same') expect(await timeline()).toEqual(before);
      else expect(await timeline()).not.toEqual(before);
    },
  );
});
