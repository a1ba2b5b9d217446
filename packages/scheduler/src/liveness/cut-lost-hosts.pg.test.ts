import { createTestDatabase, type TestDatabase } from '@gantry/db/testing';
import { newId } from '@gantry/model/ids';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { AttachedHosts } from '../deliver/attached-hosts.ts';
import { cutLostHosts } from './cut-lost-hosts.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const MINUTE_MS = 60_000;

it('streams are cut by which nothing comes, and those of removed hosts; not those that are not read yet', async () => {
  const { sql } = database;
  const hosts = new AttachedHosts();
  const cut = new Map<string, string>();
  const attach = (hostId: string) => {
    const stream = { hostId, certificateSerial: '', send: () => {} };
    return hosts.add({ ...stream, cut: (reason) => cut.set(hostId, reason) }, '1');
  };
  const [speaking, silent, removed, waiting] = [newId(), newId(), newId(), newId()];
  for (const id of [speaking, silent, waiting])
    await sql`insert into hosts (id, location, name) values (${id}, 'eu-north-a', ${id})`;
  attach(speaking).heardAtMs = performance.now();
  attach(removed).heardAtMs = performance.now();
  attach(silent).heardAtMs = performance.now() - MINUTE_MS;
  attach(waiting);

  await cutLostHosts({ sql, hosts });

  expect(Object.fromEntries(cut)).toEqual({
    [silent]: 'nothing was heard from the host',
    [removed]: 'the host was removed',
  });
});
