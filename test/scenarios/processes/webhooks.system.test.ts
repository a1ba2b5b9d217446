import { randomUUID } from 'node:crypto';
import { startWebhookSink, type WebhookSink } from '@gantry/testkit/api/webhook-sink';
import { type OwnServer, startOwnServer } from '@gantry/testkit/database/own-server';
import {
  type Api,
  type Processes,
  startProcesses,
} from '@gantry/testkit/processes/start-processes';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { failsHalf, judge } from '../../bench/webhooks/judge.ts';

/** `npm run bench:webhooks` does the same with 100,000 events. */
const RESOURCES = 200;
const EVENTS_OF_EACH = 10;
const ENV = {
  ...{ GANTRY_WEBHOOK_NETWORKS: 'any', GANTRY_WEBHOOK_RETRY_MS: '10' },
  // A process that was killed is replaced after one and a half times this and a second.
  GANTRY_WEBHOOK_TIMEOUT_MS: '400',
};
let server: OwnServer;
let processes: Processes;
let apis: Api[];
let sink: WebhookSink;

beforeAll(async () => {
  processes = await startProcesses({
    startDatabase: async () => {
      server = await startOwnServer();
      return { databaseUrl: server.url, stop: server.remove };
    },
  });
  sink = await startWebhookSink();
  sink.reply(failsHalf());
  apis = [await processes.startApi(ENV), await processes.startApi(ENV)];
});
afterAll(async () => {
  sink?.stop();
  await processes?.stop();
});

const expected = new Map(Array.from({ length: RESOURCES }, () => [randomUUID(), EVENTS_OF_EACH]));

/** Each event of a resource is a transaction of its own, together with those of the other resources. */
async function writeEvents(first: number, count: number): Promise<void> {
  const resources = [...expected.keys()];
  for (let number = first; number < first + count; number += 1) {
    await processes.sql`insert into events (id, project_id, resource_type, resource_id, type, message)
      select gen_random_uuid(), ${processes.credentials.project_id}, 'vm', id, 'vm_lost', ${String(number)}
      from unnest(${resources}::uuid[]) as r (id)`;
  }
}

it('every event arrives, in the order of its resource, although processes are killed and half of the attempts fail', async () => {
  const { project_id, access_key } = processes.credentials;
  const reply = await fetch(`${apis[0]?.url}/v0.1/projects/${project_id}/webhooks`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${access_key}` },
    body: JSON.stringify({ name: 'all', url: sink.url, event_types: ['event'] }),
  });
  expect(reply.status).toBe(200);
  await writeEvents(0, EVENTS_OF_EACH / 2);
  // The webhook is served by one of them; each is killed while it may be that one.
  for (const api of apis) {
    const before = sink.messages.length;
    await expect.poll(() => sink.messages.length).toBeGreaterThan(before + 100);
    await api.kill();
    await processes.startApi(ENV);
  }
  await server.kill();
  await server.start();
  await writeEvents(EVENTS_OF_EACH / 2, EVENTS_OF_EACH / 2);
  await expect
    .poll(() => judge(sink.messages, expected), { timeout: 120_000 })
    .toMatchObject({
      ...{ lost: 0, early: 0 },
    });
});
