import path from 'node:path';
import { connect } from '@gantry/db/connect';
import { startEmbeddedPostgres } from '@gantry/local/postgres/embedded-postgres';
import { removeHome } from '@gantry/testkit/database/remove-home';
import { type Measured, measureLoad } from './measure-load.ts';
import { median } from './median.ts';
import { makeBenchProject, startProcess } from './subject.ts';

/**
 * Measures the cost of the api compared with two bare Hono routes, one that runs the same statements
 * and a minimal one: CPU time per request of the server process, and with that of PostgreSQL. Rounds
 * alternate between the three, so that noise of the machine affects all; the medians of the rounds are
 * compared.
 */
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 5);
const CONNECTIONS = 8;
const VMS = 200;
/** `equal`: without PostgreSQL, which does the same work. `minimal`: with PostgreSQL. */
const GOALS: Record<'get' | 'list' | 'create', { equal: number; minimal?: number }> = {
  get: { equal: 1.3, minimal: 1.5 },
  list: { equal: 1.3 },
  create: { equal: 1.5, minimal: 2 },
};
type Side = 'minimal' | 'equal' | 'api';

const root = path.resolve(import.meta.dirname, '../..');
const home = path.join(root, '.gantry/bench', `api-${process.pid}`);
const postgres = await startEmbeddedPostgres({ home });
const sql = connect({ url: postgres.databaseUrl, name: 'bench', statementLimitMs: 0 });
const stops: (() => Promise<void>)[] = [];
try {
  const project = await makeBenchProject({
    root,
    databaseUrl: postgres.databaseUrl,
    sql,
    vms: VMS,
  });
  const env = {
    DATABASE_URL: postgres.databaseUrl,
    GANTRY_SECRET_KEY: project.secretKey,
    GANTRY_PORT: '0',
    GANTRY_RATE_LIMIT: '1000000',
    GANTRY_RATE_BURST: '1000000',
    BENCH_PROJECT: project.projectId,
  };
  const api = await startProcess([path.join(root, 'packages/api/dist/main.mjs')], env);
  stops.push(api.stop);
  const bare = await startProcess(
    ['--import', 'tsx', path.join(root, 'test/bench/bare-server.ts')],
    env,
  );
  stops.push(bare.stop);

  const vms = `/v0.1/projects/${project.projectId}/vms`;
  const authorization = { authorization: `Bearer ${project.accessKey}` };
  const cases = [
    {
      name: 'get',
      count: 6_000,
      api: { path: `${vms}/${project.vmId}` },
      equal: { path: `/vms/${project.vmId}` },
      minimal: { path: `/minimal/vms/${project.vmId}` },
    },
    {
      name: 'list',
      count: 600,
      api: { path: `${vms}?limit=100` },
      equal: { path: '/vms?limit=100' },
    },
    {
      name: 'create',
      count: 2_000,
      api: { path: vms, create: true },
      equal: { path: '/vms', create: true },
      minimal: { path: '/minimal/vms', create: true },
    },
  ] as const;

  let failed = false;
  for (const { name, count, ...paths } of cases) {
    const results: Results = { minimal: [], equal: [], api: [] };
    for (let round = 0; round <= ROUNDS; round += 1) {
      for (const side of ['minimal', 'equal', 'api'] as const) {
        const asked = { minimal: null, ...paths }[side];
        if (!asked) continue;
        const measured = await measureLoad({
          ...{ ...asked, count, connections: CONNECTIONS, postgresPid: postgres.pid },
          subject: side === 'api' ? api : bare,
          headers: side === 'api' ? authorization : {},
        });
        if (name === 'create')
          await sql`delete from vms where project_id = ${project.projectId} and name like 'bench-%'`;
        // The first round is a warm-up.
        if (round > 0) results[side].push(measured);
      }
    }
    failed = report(name, results) || failed;
  }
  process.exitCode = failed ? 1 : 0;
} finally {
  for (const stop of stops) await stop();
  await sql.end();
  await postgres.stop();
  await removeHome(home);
}

type Results = Record<Side, Measured[]>;

/** Returns whether a goal is missed. */
function report(name: keyof typeof GOALS, results: Results): boolean {
  for (const side of ['api', 'equal', 'minimal'] as const) {
    const rounds = results[side];
    if (rounds.length === 0) continue;
    const of = (field: keyof Measured) => median(rounds.map((round) => round[field]));
    console.log(
      `${name.padEnd(7)} ${side.padEnd(8)} CPU/request ${of('cpuMicros').toFixed(0).padStart(5)} µs, PostgreSQL ` +
        `${of('postgresMicros').toFixed(0).padStart(5)} µs   p50 ${of('p50Ms').toFixed(2)} ms   ` +
        `p99 ${of('p99Ms').toFixed(2)} ms   ${of('perSecond').toFixed(0)} requests/s`,
    );
  }
  const own = ({ cpuMicros }: Measured) => cpuMicros;
  const withPostgres = ({ cpuMicros, postgresMicros }: Measured) => cpuMicros + postgresMicros;
  const { equal, minimal } = GOALS[name];
  let missed = compare(name, results, { side: 'equal', goal: equal, cpu: own });
  if (minimal !== undefined)
    missed =
      compare(name, results, { side: 'minimal', goal: minimal, cpu: withPostgres }) || missed;
  console.log('');
  return missed;
}

type Compared = { side: Side; goal: number; cpu: (measured: Measured) => number };

function compare(name: string, results: Results, { side, goal, cpu }: Compared): boolean {
  const ratio = median(results.api.map(cpu)) / median(results[side].map(cpu));
  const pairs = results.api.map((round, i) => {
    const other = results[side][i];
    return (other ? cpu(round) / cpu(other) : Number.NaN).toFixed(2);
  });
  console.log(
    `${name.padEnd(7)} CPU beside the ${side} route ${ratio.toFixed(2)} (rounds ${pairs.join(' ')}); ` +
      `goal ${goal}: ${ratio <= goal ? 'met' : 'MISSED'}`,
  );
  return ratio > goal;
}
