import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { connect, type Sql } from '@gantry/db/connect';
import { startEmbeddedPostgres } from '@gantry/local/postgres/embedded-postgres';
import { removeHome } from '@gantry/testkit/database/remove-home';
import { unitFlags } from '@gantry/testkit/processes/unit-flags';
import { benchHome } from './fleet/home.ts';
import { type BenchProcess, cpuOfTree, startBenchProcess } from './fleet/process.ts';
import { forgetStatements, printStatements, startCountingPostgres } from './fleet/statements.ts';
import { row } from './fleet/table.ts';
import { median } from './median.ts';
import { runParts } from './run-parts.ts';
import { makeBenchProject } from './subject.ts';

/**
 * What schedulers cost while nothing happens: transactions per second and CPU time, their own and that of
 * PostgreSQL. Every transaction of the database counts, also those that only read.
 */
const { values } = parseArgs({
  options: {
    schedulers: { type: 'string', default: '3' },
    locations: { type: 'string', default: '20' },
    seconds: { type: 'string', default: '20' },
    rounds: { type: 'string', default: '3' },
    /** Prints the statements by their number. Recording them has a small cost. */
    statements: { type: 'boolean', default: false },
  },
});
const GOALS = { commits: 100, percent: 5 };
/** Statistics of the database are written up to a second late. */
const STATISTICS_MS = 2_000;

await runParts({ idle: measureIdle }, []);

async function measureIdle(signal: AbortSignal): Promise<void> {
  const root = path.resolve(import.meta.dirname, '../..');
  const home = benchHome('idle');
  const postgres = values.statements
    ? await startCountingPostgres(home)
    : await startEmbeddedPostgres({ home });
  const sql = connect({ url: postgres.databaseUrl, name: 'bench', statementLimitMs: 0 });
  const schedulers: BenchProcess[] = [];
  try {
    const databaseUrl = postgres.databaseUrl;
    const project = await makeBenchProject({ root, sql, databaseUrl, vms: 0 });
    await addLocations(sql, Number(values.locations));
    for (let i = 0; i < Number(values.schedulers); i += 1) {
      const program = path.join(root, 'packages/scheduler/dist/main.mjs');
      const env = {
        DATABASE_URL: databaseUrl,
        GANTRY_SECRET_KEY: project.secretKey,
        GANTRY_FLEET_KEY: project.fleetKey,
        GANTRY_FLEET_PORT: '0',
      };
      const args = [...unitFlags('gantry-scheduler'), program];
      schedulers.push(await startBenchProcess({ name: 'scheduler', args, env }));
    }
    const rounds: Round[] = [];
    // The first round warms up.
    for (let i = 0; i <= Number(values.rounds); i += 1) {
      signal.throwIfAborted();
      const round = await measureRound({ sql, postgresPid: postgres.pid, schedulers });
      if (i > 0) rounds.push(round);
      else if (values.statements) await forgetStatements(sql);
    }
    print(rounds);
    const per = rounds.length * (Number(values.seconds) + STATISTICS_MS / 1_000);
    if (values.statements) await printStatements(sql, { per, unit: 'second' });
  } finally {
    await Promise.allSettled(schedulers.map((one) => one.stop()));
    await sql.end({ timeout: 5 });
    await postgres.stop();
    await removeHome(home);
  }
}

/** Locations without hosts, beside those of the catalogue. */
async function addLocations(sql: Sql, count: number): Promise<void> {
  const [row] = await sql<{ known: number }[]>`select count(*)::int as known from locations`;
  await sql`insert into locations (name, region, zone)
    select 'bench-' || i, 'bench', 'z' || i from generate_series(1, ${count - (row?.known ?? 0)}::int) i`;
}

type Round = { commits: number; schedulerPercent: number; postgresPercent: number };
type Subject = { sql: Sql; postgresPid: number; schedulers: BenchProcess[] };

async function measureRound({ sql, postgresPid, schedulers }: Subject): Promise<Round> {
  const read = async () => {
    const usages = await Promise.all(schedulers.map((one) => one.usage()));
    const [row] = await sql<{ commits: string }[]>`select xact_commit as commits
      from pg_stat_database where datname = current_database()`;
    return {
      atMs: performance.now(),
      commits: Number(row?.commits),
      schedulerUs: usages.reduce((sum, { cpuUs }) => sum + cpuUs, 0),
      postgresUs: cpuOfTree(postgresPid),
    };
  };
  const before = await read();
  await delay(Number(values.seconds) * 1_000 + STATISTICS_MS);
  const after = await read();
  const seconds = (after.atMs - before.atMs) / 1_000;
  const percent = (us: number) => us / 1e4 / seconds;
  return {
    commits: (after.commits - before.commits) / seconds,
    schedulerPercent: percent(after.schedulerUs - before.schedulerUs),
    postgresPercent: percent(after.postgresUs - before.postgresUs),
  };
}

function print(rounds: Round[]): void {
  const of = (value: (round: Round) => number) => median(rounds.map(value));
  const all = rounds.map(({ commits }) => commits.toFixed(0)).join(', ');
  console.log(`${values.schedulers} schedulers, ${values.locations} locations, commits/s: ${all}`);
  row(
    'commits',
    of(({ commits }) => commits),
    'per second',
    { most: GOALS.commits },
  );
  row(
    'CPU of schedulers',
    of(({ schedulerPercent }) => schedulerPercent),
    '% of a core',
  );
  row(
    'CPU of PostgreSQL',
    of(({ postgresPercent }) => postgresPercent),
    '% of a core',
  );
  row(
    'CPU together',
    of(({ schedulerPercent, postgresPercent }) => schedulerPercent + postgresPercent),
    '% of a core',
    { most: GOALS.percent },
  );
}
