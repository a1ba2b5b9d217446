import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { connect, type Sql } from '@gantry/db/connect';
import { startEmbeddedPostgres } from '@gantry/local/postgres/embedded-postgres';
import { newId } from '@gantry/model/ids';
import { removeHome } from '@gantry/testkit/database/remove-home';
import { addHosts } from '@gantry/testkit/make/hosts';
import { addVms } from '@gantry/testkit/make/vms';
import { unitFlags } from '@gantry/testkit/processes/unit-flags';
import { median } from '../median.ts';
import { makeBenchProject, VM } from '../subject.ts';
import { benchHome } from './home.ts';
import { startBenchProcess } from './process.ts';
import { row } from './table.ts';

/**
 * The time from the start of a scheduler to its first placement in a location with many hosts, all of
 * which it has to read first: on a quiet machine, and on a quarter of a core.
 */
export type FirstPlacementOptions = { hosts: number; rounds: number; signal: AbortSignal };

const GOALS = { quietS: 3, quarterS: 15 };
const LIMIT_MS = 180_000;
/** They share one core with the scheduler, which gets a quarter of it. */
const BUSY_LOOPS = 3;
const CORE = '0';

export async function measureFirstPlacement(options: FirstPlacementOptions): Promise<void> {
  const root = path.resolve(import.meta.dirname, '../../..');
  const home = benchHome('first-placement');
  const postgres = await startEmbeddedPostgres({ home });
  const { databaseUrl } = postgres;
  const sql = connect({ url: databaseUrl, name: 'bench', maxConnections: 2, statementLimitMs: 0 });
  try {
    const project = await makeBenchProject({ root, databaseUrl, sql, vms: 0 });
    await addAttachedHosts(sql, options.hosts);
    const start: Starting = {
      ...{ ...options, sql, projectId: project.projectId },
      program: path.join(root, 'packages/scheduler/dist/main.mjs'),
      env: {
        ...{ DATABASE_URL: databaseUrl, GANTRY_SECRET_KEY: project.secretKey },
        ...{ GANTRY_FLEET_KEY: project.fleetKey, GANTRY_FLEET_PORT: '0' },
        // The hosts have no agents. They must not be judged.
        GANTRY_UNREACHABLE_AFTER_MS: '3600000',
      },
    };
    const name = `first placement after a start, ${options.hosts} hosts`;
    await measureRounds(start, { name, mostS: GOALS.quietS });
    const loops = startBusyLoops();
    try {
      await measureRounds(start, {
        ...{ name: `${name}, a quarter of a core`, mostS: GOALS.quarterS, core: CORE },
      });
    } finally {
      for (const loop of loops) loop.kill('SIGKILL');
    }
  } finally {
    await sql.end({ timeout: 5 });
    await postgres.stop();
    await removeHome(home);
  }
}

async function addAttachedHosts(sql: Sql, hosts: number): Promise<void> {
  for (let added = 0; added < hosts; added += 1_000)
    await addHosts(sql, Math.min(1_000, hosts - added), {
      ...{ location: VM.location, gpus: 8, nodes: 2 },
    });
  // A placer avoids hosts without a stream.
  const schedulerId = newId();
  await sql`insert into schedulers (id, address, last_seen_at) values (${schedulerId}, '', now() + interval '1 day')`;
  await sql`update hosts set scheduler_id = ${schedulerId}, stream_epoch = 1`;
  await sql`analyze`;
}

/** They end with this process, because each waits for its input to end. */
function startBusyLoops(): ChildProcess[] {
  const program =
    'process.stdin.on("end", () => process.exit()).resume();' +
    'const work = () => { const end = Date.now() + 20; while (Date.now() < end); setImmediate(work); }; work();';
  return Array.from({ length: BUSY_LOOPS }, () =>
    spawn('taskset', ['-c', CORE, process.execPath, '-e', program], {
      stdio: ['pipe', 'ignore', 'inherit'],
    }),
  );
}

type Starting = FirstPlacementOptions & {
  sql: Sql;
  projectId: string;
  program: string;
  env: Record<string, string>;
};
type Rounds = { name: string; mostS: number; core?: string };

async function measureRounds(start: Starting, { name, mostS, core }: Rounds): Promise<void> {
  const seconds: number[] = [];
  let lost = 0;
  for (let i = 0; i < start.rounds; i += 1) {
    start.signal.throwIfAborted();
    const round = await measureStart(start, core);
    seconds.push(round.seconds);
    lost += round.leasesLost;
  }
  const all = seconds.map((one) => one.toFixed(1)).join(', ');
  row(`${name} (${all})`, median(seconds), 's', { most: mostS });
  row('  leases lost', lost, '', { most: 0 });
}

async function measureStart(
  { sql, projectId, program, env }: Starting,
  core: string | undefined,
): Promise<{ seconds: number; leasesLost: number }> {
  const [vmId = ''] = await addVms(sql, 1, { projectId, location: VM.location });
  const before = await readEpochs(sql);
  const begun = performance.now();
  const scheduler = await startBenchProcess({
    ...{ name: 'scheduler', args: [...unitFlags('gantry-scheduler'), program], env },
    ...(core === undefined ? {} : { core }),
  });
  try {
    while (!(await isPlaced(sql, vmId))) {
      if (performance.now() > begun + LIMIT_MS) throw new Error('the VM was not placed');
      await delay(20);
    }
    const seconds = (performance.now() - begun) / 1_000;
    const epochs = await readEpochs(sql);
    const leasesLost = [...epochs].filter(
      ([location, epoch]) => epoch > (before.get(location) ?? 0) + 1,
    );
    return { seconds, leasesLost: leasesLost.length };
  } finally {
    await scheduler.stop();
  }
}

/** The scheduler acquires each lease once. A lease that it lost has been acquired again. */
async function readEpochs(sql: Sql): Promise<Map<string, number>> {
  const rows = await sql<{ location: string; epoch: number }[]>`
    select location, epoch::int from leases`;
  return new Map(rows.map(({ location, epoch }) => [location, epoch]));
}

async function isPlaced(sql: Sql, vmId: string): Promise<boolean> {
  const [vm] = await sql<{ placed: boolean }[]>`select placed from vms where id = ${vmId}`;
  return vm?.placed ?? false;
}
