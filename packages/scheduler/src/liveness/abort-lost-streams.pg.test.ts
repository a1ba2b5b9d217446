import { newId } from '@gantry/model/ids';
import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { AttachedHosts } from '../attached/attached-hosts.ts';
import { silentStream } from '../attached/testing/silent-stream.ts';
import { abortLostStreams } from './abort-lost-streams.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const MINUTE_MS = 60_000;

it('silent streams and streams of removed hosts are aborted, and those that wait to be read are not', async () => {
  const { sql } = database;
  const hosts = new AttachedHosts();
  const aborted = new Map<string, string>();
  const attach = (hostId: string) => {
    const abort = (reason: string) => void aborted.set(hostId, reason);
    return hosts.add(silentStream(hostId, { abort }), '1');
  };
  const [speaking, silent, removed, waiting] = [newId(), newId(), newId(), newId()];
  for (const id of [speaking, silent, waiting])
    await sql`insert into hosts (id, location, name) values (${id}, 'eu-north-a', ${id})`;
  attach(speaking).heardAtMs = performance.now();
  attach(removed).heardAtMs = performance.now();
  attach(silent).heardAtMs = performance.now() - MINUTE_MS;
  attach(waiting);

  await abortLostStreams({ sql, hosts });

  expect(Object.fromEntries(aborted)).toEqual({
    [silent]: 'the host sent no report in time',
    [removed]: 'the host was removed',
  });
});
