import path from 'node:path';
import { connect } from '@gantry/db/connect';
import { startEmbeddedPostgres } from '@gantry/local/postgres/embedded-postgres';
import { removeHome } from '@gantry/testkit/database/remove-home';
import { type Measured, measureLoad } from './measure-load.ts';
import { median } from './median.ts';
import { makeBenchProject, startProcess } from './subject.ts';

/**
 * Measures the cost of the api compared with a bare Hono route that runs the same statements: CPU
 * time of the server process per request, and latency. Rounds alternate between the two, so that
 * noise of the machine affects both; the medians of the rounds are compared.
 */
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 5);
const CONNECTIONS = 8;
const VMS = 200;
const GOALS = { get: 1.3, list: 1.3, create: 1.5 };

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
      bare: { path: `/vms/${project.vmId}` },
    },
    {
      name: 'list',
      count: 600,
      api: { path: `${vms}?limit=100` },
      bare: { path: '/vms?limit=100' },
    },
    {
      name: 'create',
      count: 2_000,
      api: { path: vms, create: true },
      bare: { path: '/vms', create: true },
    },
  ] as const;

  let failed = false;
  for (const { name, count, ...sides } of cases) {
    const results: Record<'api' | 'bare', Measured[]> = { api: [], bare: [] };
    for (let round = 0; round <= ROUNDS; round += 1) {
      for (const side of ['bare', 'api'] as const) {
        const subject = side === 'api' ? api : bare;
        const headers = side === 'api' ? authorization : {};
        const measured = await measureLoad({
          ...sides[side],
          subject,
          headers,
          count,
          connections: CONNECTIONS,
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

function report(
  name: keyof typeof GOALS,
  { api, bare }: Record<'api' | 'bare', Measured[]>,
): boolean {
  const line = (label: string, rounds: Measured[]) => {
    const of = (field: keyof Measured) => median(rounds.map((round) => round[field]));
    console.log(
      `${name.padEnd(7)} ${label.padEnd(5)} CPU/request ${of('cpuMicros').toFixed(0).padStart(5)} µs   ` +
        `p50 ${of('p50Ms').toFixed(2)} ms   p99 ${of('p99Ms').toFixed(2)} ms   ${of('perSecond').toFixed(0)} requests/s`,
    );
    return of('cpuMicros');
  };
  const ratio = line('api', api) / line('bare', bare);
  const pairs = api.map((round, i) => round.cpuMicros / (bare[i]?.cpuMicros ?? Number.NaN));
  const met = ratio <= GOALS[name];
  console.log(
    `${name.padEnd(7)} ratio of CPU ${ratio.toFixed(2)} (rounds ${pairs.map((pair) => pair.toFixed(2)).join(' ')}); ` +
      `goal ${GOALS[name]}: ${met ? 'met' : 'MISSED'}\n`,
  );
  return !met;
}
