import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { connect, type Sql } from '@gantry/db/connect';
import { startWebhookSink, type WebhookSink } from '@gantry/testkit/api/webhook-sink';
import { startOwnServer } from '@gantry/testkit/database/own-server';
import { cpuOfTree, startBenchProcess } from './fleet/process.ts';
import { row } from './fleet/table.ts';
import { runParts } from './run-parts.ts';
import { makeBenchProject } from './subject.ts';
import { type Expected, failsHalf, judge } from './webhooks/judge.ts';

/**
 * Webhooks: many events into a sink that fails half of the time, while they are written and every process is killed. Nothing may be lost,
 * and the events of each resource must arrive in their order. Also what an event costs while there is no webhook.
 */
const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '100000' },
    resources: { type: 'string', default: '2000' },
    /** How often all processes are killed, one after the other. */
    kills: { type: 'string', default: '3' },
  },
});
const EVENTS = Number(values.events);
const RESOURCES = Number(values.resources);
const root = path.resolve(import.meta.dirname, '../..');
const program = (name: string) => path.join(root, 'packages', name, 'dist/main.mjs');
const UNCHANGED_EVENTS = 500;
/** How many events are written before others are accepted: more than a webhook may have pending. */
const AHEAD = 20_000;

type World = Awaited<ReturnType<typeof startWorld>>;

await runParts({ webhooks: measure }, []);

async function measure(signal: AbortSignal): Promise<void> {
  const world = await startWorld();
  try {
    await measureWithout(world);
    await measureDelivery(world, signal);
  } finally {
    await world.stop();
  }
}

async function startWorld() {
  const server = await startOwnServer();
  const sql = connect({ url: server.url, name: 'bench', statementLimitMs: 0 });
  const project = await makeBenchProject({ root, sql, databaseUrl: server.url, vms: 0 });
  const sink = await startWebhookSink();
  sink.reply(failsHalf());
  const env = {
    ...{ DATABASE_URL: server.url, GANTRY_SECRET_KEY: project.secretKey, GANTRY_PORT: '0' },
    ...{ GANTRY_FLEET_KEY: project.fleetKey, GANTRY_FLEET_PORT: '0' },
    ...{ GANTRY_WEBHOOK_NETWORKS: 'any', GANTRY_WEBHOOK_RETRY_MS: '20' },
    GANTRY_WEBHOOK_TIMEOUT_MS: '1000',
  };
  const start = (name: 'api' | 'scheduler') =>
    startBenchProcess({ name, args: [program(name)], env });
  const apis = [await start('api'), await start('api')];
  const schedulers = [await start('scheduler')];
  return {
    ...{ server, sql, project, sink, apis, schedulers, start },
    async stop() {
      await Promise.allSettled([...apis, ...schedulers].map((one) => one.stop()));
      sink.stop();
      await sql.end({ timeout: 5 });
      await server.stop();
      await server.remove();
    },
  };
}

type Batch = { ids: string[]; number: number };

/**
 * Writes the next event of each of the resources, in one transaction. The ids of the events are chosen here, so that
 * the batch can be written again if the database was killed before its reply.
 */
async function writeEvents(
  sql: Sql,
  projectId: string,
  { ids, number, events = ids.map(() => randomUUID()) }: Batch & { events?: string[] },
) {
  await sql`insert into events (id, project_id, resource_type, resource_id, type, message)
    select event, ${projectId}, 'vm', id, 'vm_lost', ${String(number)}
    from unnest(${ids}::uuid[], ${events}::uuid[]) as r (id, event) on conflict do nothing`;
}

/** Transactions that write, of all processes together. */
async function measureWithout({ sql, project, schedulers }: World): Promise<void> {
  const written = async () => {
    const [found] = await sql<
      { xid: string }[]
    >`select pg_snapshot_xmax(pg_current_snapshot())::text as xid`;
    return Number(found?.xid);
  };
  // A scheduler renews its leases, which has nothing to do with events.
  for (const { pid } of schedulers) process.kill(pid, 'SIGSTOP');
  const before = await written();
  for (let number = 0; number < UNCHANGED_EVENTS; number += 1)
    await writeEvents(sql, project.projectId, { ids: [randomUUID()], number });
  const extra = (await written()) - before - UNCHANGED_EVENTS;
  for (const { pid } of schedulers) process.kill(pid, 'SIGCONT');
  row('extra commits per event without a webhook', extra / UNCHANGED_EVENTS, '', { most: 0.01 });
}

async function createWebhook({ apis, project, sink }: World): Promise<void> {
  const url = `http://127.0.0.1:${apis[0]?.ready['port']}/v0.1/projects/${project.projectId}/webhooks`;
  const reply = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${project.accessKey}` },
    body: JSON.stringify({ name: 'bench', url: sink.url, event_types: ['event'] }),
  });
  if (!reply.ok) throw new Error(await reply.text());
}

async function measureDelivery(world: World, signal: AbortSignal): Promise<void> {
  const { sink } = world;
  await createWebhook(world);
  const cpu = { apiUs: 0, postgresUs: 0 };
  const ids = Array.from({ length: RESOURCES }, () => randomUUID());
  const each = Math.floor(EVENTS / RESOURCES);
  const expected: Expected = new Map(ids.map((id) => [id, each]));
  const beganAt = performance.now();
  const rounds = Number(values.kills);
  const killInRounds = async () => {
    for (let round = 1; round <= rounds; round += 1) {
      await untilAccepted(sink, (EVENTS * round) / (rounds + 1), signal);
      await killAll(world, cpu);
    }
  };
  await Promise.all([writeAll(world, { ids, each, signal }), killInRounds()]);
  await untilAccepted(sink, EVENTS, signal);
  while (judge(sink.messages, expected).lost > 0) {
    signal.throwIfAborted();
    await delay(200);
  }
  const seconds = (performance.now() - beganAt) / 1_000;
  for (const api of world.apis) cpu.apiUs += (await api.usage()).cpuUs;
  cpu.postgresUs += cpuOfTree(world.server.pid());
  const { lost, early, repeated } = judge(sink.messages, expected);
  const attempts = sink.messages.length;
  row('events', EVENTS, '');
  row('attempts', attempts, '');
  row('lost events', lost, '', { most: 0 });
  row('messages before their turn', early, '', { most: 0 });
  row('repeated messages', repeated, '');
  row('seconds, with kills and retries', seconds, 's');
  row('events per second', EVENTS / seconds, '1/s');
  row('CPU of the api per attempt', cpu.apiUs / attempts, 'µs');
  row('CPU of PostgreSQL per attempt, with writing the events', cpu.postgresUs / attempts, 'µs');
}

/** Writes the events while they are sent, also while processes are killed. */
async function writeAll(
  { sql, project, sink }: World,
  { ids, each, signal }: { ids: string[]; each: number; signal: AbortSignal },
): Promise<void> {
  for (let number = 0; number < each; number += 1) {
    await untilAccepted(sink, number * ids.length - AHEAD, signal);
    const batch = { ids, number, events: ids.map(() => randomUUID()) };
    while (!(await isWritten(sql, project.projectId, batch))) {
      signal.throwIfAborted();
      await delay(200);
    }
  }
}

/** Returns false while the database is away. */
async function isWritten(
  sql: Sql,
  projectId: string,
  batch: Batch & { events: string[] },
): Promise<boolean> {
  try {
    await writeEvents(sql, projectId, batch);
    return true;
  } catch {
    return false;
  }
}

async function untilAccepted(sink: WebhookSink, count: number, signal: AbortSignal): Promise<void> {
  const accepted = () => sink.messages.reduce((sum, one) => sum + Number(one.accepted), 0);
  while (accepted() < count) {
    signal.throwIfAborted();
    await delay(100);
  }
}

/** Kills each process, starts another one in its place, and then the database. */
async function killAll(world: World, cpu: { apiUs: number; postgresUs: number }): Promise<void> {
  for (const [index, api] of world.apis.entries()) {
    cpu.apiUs += (await api.usage()).cpuUs;
    process.kill(api.pid, 'SIGKILL');
    world.apis[index] = await world.start('api');
  }
  for (const [index, scheduler] of world.schedulers.entries()) {
    process.kill(scheduler.pid, 'SIGKILL');
    world.schedulers[index] = await world.start('scheduler');
  }
  cpu.postgresUs += cpuOfTree(world.server.pid());
  await world.server.kill();
  await world.server.start();
}
