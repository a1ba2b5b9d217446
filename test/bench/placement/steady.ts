import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createLog } from '@gantry/daemon/log';
import { connect } from '@gantry/db/connect';
import { migrate } from '@gantry/db/migrate';
import { startEmbeddedPostgres } from '@gantry/local/postgres/embedded-postgres';
import { newId } from '@gantry/model/ids';
import { startPlacing } from '@gantry/scheduler/place/start-placing';
import { pollChanges } from '@gantry/scheduler/poll-changes';
import { removeHome } from '@gantry/testkit/database/remove-home';
import { addHosts } from '@gantry/testkit/make/hosts';
import { addProject } from '@gantry/testkit/make/tenants';
import { addVms } from '@gantry/testkit/make/vms';
import { cpuOfTree } from '../fleet/process.ts';
import { forgetStatements, printStatements, startCountingPostgres } from '../fleet/statements.ts';
import { row } from '../fleet/table.ts';
import { median } from '../median.ts';

/**
 * What a placement costs if VMs come one by one, 20 a second, and little can be shared between them: the
 * CPU time of the loops of a scheduler that place, with their polls, and that of PostgreSQL, in a location
 * of a thousand and of ten thousand hosts. The bench makes one VM after the other visible to the placer by an
 * update. What these updates cost is measured alone and subtracted.
 */
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const PER_SECOND = 20;
const SECONDS = 10;
const GOAL_MS = 3;
const SIZES = [
  { location: 'eu-north-a', hosts: 1_000 },
  { location: 'us-east-a', hosts: 10_000 },
];
const log = createLog({ process: 'bench', level: 'warn' });

const home = path.join(import.meta.dirname, '../../../.gantry/bench', `steady-${process.pid}`);
/** Prints the statements. Recording them has a small cost. */
const STATEMENTS = process.env['BENCH_STATEMENTS'] === '1';
const postgres = STATEMENTS
  ? await startCountingPostgres(home)
  : await startEmbeddedPostgres({ home });
await migrate(postgres.databaseUrl);
const sql = connect({ url: postgres.databaseUrl, name: 'bench', statementLimitMs: 0 });
const pool = connect({ url: postgres.databaseUrl, name: 'placer', plansOnce: true });
try {
  await measure();
} finally {
  await Promise.all([sql.end({ timeout: 5 }), pool.end({ timeout: 5 })]);
  await postgres.stop();
  await removeHome(home);
}

async function measure(): Promise<void> {
  const projectId = await addProject(sql);
  for (const { location, hosts } of SIZES)
    for (let added = 0; added < hosts; added += 1_000)
      await addHosts(sql, 1_000, { location, gpus: 8, nodes: 2 });
  // A placer avoids hosts without a stream.
  const schedulerId = newId();
  await sql`insert into schedulers (id, address, last_seen_at) values (${schedulerId}, '', now() + interval '1 hour')`;
  await sql`update hosts set scheduler_id = ${schedulerId}, stream_epoch = 1`;
  const rounds: { i: number; vmIds: string[] }[] = [];
  for (let round = 0; round <= ROUNDS; round += 1)
    for (const [i, { location }] of SIZES.entries())
      rounds.push({ i, vmIds: await addVms(sql, PER_SECOND * SECONDS, { projectId, location }) });
  // The placer does not see them until it is their turn.
  await sql`update vms set observed_generation = generation`;
  await sql`analyze`;
  const shown = await costOfShowing(rounds[0]?.vmIds ?? []);
  const onBusy = () => polling.hurry();
  const placing = startPlacing({ sql: pool, log, schedulerId, onBusy });
  const polling = pollChanges({
    ...{ sql: pool, log, pollMs: 100 },
    locations: () => placing.locations(),
    onChanges: (changes) => placing.note(changes),
    onGap: () => {},
  });
  try {
    const results = SIZES.map((): Cost[] => []);
    for (const [turn, { i, vmIds }] of rounds.entries()) {
      const cost = less(await placeSteadily(vmIds), shown);
      // The first round warms up.
      if (turn >= SIZES.length) results[i]?.push(cost);
      else if (STATEMENTS) await forgetStatements(sql);
    }
    SIZES.forEach(({ hosts }, i) => {
      const of = (value: (cost: Cost) => number) => median((results[i] ?? []).map(value));
      const name = `CPU per placement at ${PER_SECOND}/s, ${hosts} hosts`;
      row(
        `${name}: placer`,
        of(({ placerMs }) => placerMs),
        'ms',
      );
      row(
        `${name}: PostgreSQL`,
        of(({ postgresMs }) => postgresMs),
        'ms',
      );
      row(
        name,
        of(({ placerMs, postgresMs }) => placerMs + postgresMs),
        'ms',
        { most: GOAL_MS },
      );
    });
    const per = ROUNDS * SIZES.length * PER_SECOND * SECONDS;
    if (STATEMENTS) await printStatements(sql, { per });
  } finally {
    await polling.stop();
    await placing.stop();
  }
}

type Cost = { placerMs: number; postgresMs: number };

function less(cost: Cost, part: Cost): Cost {
  return {
    placerMs: cost.placerMs - part.placerMs,
    postgresMs: cost.postgresMs - part.postgresMs,
  };
}

/** Makes a VM visible to the placer. */
async function show(vmId: string): Promise<void> {
  await sql`update vms set observed_generation = 0 where id = ${vmId}`;
}

async function measureCpu(vms: number, work: () => Promise<void>): Promise<Cost> {
  const [cpuBefore, postgresBefore] = [process.cpuUsage(), cpuOfTree(postgres.pid)];
  await work();
  const { user, system } = process.cpuUsage(cpuBefore);
  const postgresUs = cpuOfTree(postgres.pid) - postgresBefore;
  return { placerMs: (user + system) / 1_000 / vms, postgresMs: postgresUs / 1_000 / vms };
}

/** While there is no placer. The VMs are hidden again. */
async function costOfShowing(vmIds: string[]): Promise<Cost> {
  const cost = await measureCpu(vmIds.length, () => showSteadily(vmIds));
  await sql`update vms set observed_generation = generation where id = any(${vmIds}::uuid[])`;
  return cost;
}

async function showSteadily(vmIds: string[]): Promise<void> {
  const begunMs = performance.now();
  for (const [i, vmId] of vmIds.entries()) {
    await delay(Math.max(0, begunMs + (i * 1_000) / PER_SECOND - performance.now()));
    await show(vmId);
  }
}

async function placeSteadily(vmIds: string[]): Promise<Cost> {
  const countPlaced = async () => {
    const rows = await sql`select from vms where placed and id = any(${vmIds}::uuid[])`;
    return rows.length;
  };
  return await measureCpu(vmIds.length, async () => {
    await showSteadily(vmIds);
    while ((await countPlaced()) < vmIds.length) await delay(50);
  });
}
