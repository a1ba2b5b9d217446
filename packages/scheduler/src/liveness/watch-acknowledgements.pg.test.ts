import { createLog } from '@gantry/daemon/log';
import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { addHost } from '@gantry/testkit/make/hosts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { AttachedHosts } from '../attached/attached-hosts.ts';
import { silentStream } from '../attached/testing/silent-stream.ts';
import { watchAcknowledgements } from './watch-acknowledgements.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

it('a host is impaired while a spec waits for its acknowledgement, and no longer', async () => {
  const { sql } = database;
  const { id: hostId } = await addHost(sql, {});
  const hosts = new AttachedHosts();
  const { sent } = hosts.add(silentStream(hostId), '0');
  const log = createLog({ process: 'test', level: 'silent' });
  // A negative limit: every spec that waits has waited for too long.
  const watch = watchAcknowledgements({ sql, log, hosts, limitMs: -1 });
  const trouble = async () =>
    (await sql`select trouble from hosts where id = ${hostId}`)[0]?.['trouble'];

  await watch();
  expect(await trouble()).toBe('');
  sent.record({ era: 0, number: 3, hash: 'a' });
  sent.record({ era: 0, number: 4, hash: 'b' });
  await watch();
  expect(await trouble()).toMatch(/not acknowledged/);
  sent.acknowledge({ number: '3', hash: 'a' });
  await watch();
  expect(await trouble()).toMatch(/not acknowledged/);
  sent.acknowledge({ number: '4', hash: 'b' });
  await watch();
  expect(await trouble()).toBe('');
});
