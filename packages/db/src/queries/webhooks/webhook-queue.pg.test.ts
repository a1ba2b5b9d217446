import { newId } from '@gantry/model/ids';
import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { addProject } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { insertEvents } from '../operations/events.ts';
import { claimQueues, findWoken, keepQueue, lockHeldQueue, wakeQueues } from './webhook-queue.ts';

const LEASE_MS = 60_000;
let database: TestDatabase;
let projectId: string;
let webhookId: string;
const holder = newId();

beforeAll(async () => {
  database = await createTestDatabase();
  projectId = await addProject(database.sql);
});
afterAll(() => database.drop());

/** A webhook whose queue this holder has leased. */
beforeEach(async () => {
  const { sql } = database;
  webhookId = newId();
  await sql`delete from webhooks`;
  await sql`insert into webhooks (id, project_id, name, url, event_types, description, sealed_secret)
    values (${webhookId}, ${projectId}, 'w', 'https://example.com/', '{}', '', 'x')`;
  await sql`insert into webhook_queues (webhook_id, era, xid, number, due_at)
    select ${webhookId}, era, pg_snapshot_xmin(pg_current_snapshot()), 0, now() from installation`;
  const claimed = await claimQueues(sql, { holder, leaseMs: LEASE_MS, limit: 1, busy: [] });
  expect(claimed).toHaveLength(1);
});

/** A promise that is resolved from outside. Node 20 has no `Promise.withResolvers`. */
function resolvers() {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve: () => resolve() };
}

const isWoken = async () => {
  const queue = await database.sql.begin((tx) => lockHeldQueue(tx, { webhookId, holder }));
  return queue?.is_woken;
};

it('a wake counts although the transaction of the holder began before it', async () => {
  expect(await isWoken()).toBe(false);
  const queue = await database.sql.begin(async (tx) => {
    await tx`select now()`;
    await wakeQueues(database.sql, [webhookId]);
    return await lockHeldQueue(tx, { webhookId, holder });
  });
  expect(queue?.is_woken).toBe(true);
});

it('an event that is committed after the holder has read the stream wakes the queue again', async () => {
  const { sql } = database;
  await wakeQueues(sql, [webhookId]);
  const { horizon } = await findWoken(sql, null);
  const event = { projectId, resourceType: 'vm', resourceId: newId(), type: 'vm_crashed' } as const;
  const written = resolvers();
  const mayCommit = resolvers();
  const happening = sql.begin(async (tx) => {
    await insertEvents(tx, [{ ...event, message: '' }]);
    written.resolve();
    await mayCommit.promise;
  });
  await written.promise;
  const { waking } = await sql.begin(async (tx) => {
    const queue = await lockHeldQueue(tx, { webhookId, holder });
    if (!queue) throw new Error('BUG: the lease was lost');
    mayCommit.resolve();
    await happening;
    // An event counts when no older transaction runs, of other tests either.
    const woken = async () => (await findWoken(sql, horizon)).woken;
    await expect.poll(woken).toEqual([webhookId]);
    const { era, position, pending } = queue;
    await keepQueue(tx, { webhookId, leaseMs: LEASE_MS, era, position, pending, outcome: null });
    return { waking: wakeQueues(sql, [webhookId]) };
  });
  await waking;
  expect(await isWoken()).toBe(true);
});
