import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createSecrets } from '@gantry/daemon/secrets';
import { KIB } from '@gantry/daemon/units';
import { connect, type Sql } from '@gantry/db/connect';
import { startEmbeddedPostgres } from '@gantry/local/postgres/embedded-postgres';
import { removeHome } from '@gantry/testkit/database/remove-home';
import { unitFlags } from '@gantry/testkit/processes/unit-flags';
import { percentile } from '../percentile.ts';
import { makeBenchProject, VM } from '../subject.ts';
import { measureBareStreams } from './bare-streams.ts';
import { createSteadily } from './creations.ts';
import { benchHome } from './home.ts';
import { addPublicAddresses, widenSubnet } from './members.ts';
import { type BenchProcess, cpuOfTree, startBenchProcess } from './process.ts';
import { type Start, startHosts, waitUntilAttached } from './start-hosts.ts';
import { forgetStatements, printStatements, startCountingPostgres } from './statements.ts';
import { row } from './table.ts';

/**
 * A fleet that is attached to one scheduler. PostgreSQL, the api, the scheduler and the hosts are
 * separate processes, and every host has its own TLS connection and stream. The scheduler is
 * measured.
 */
export type AttachedOptions = {
  hosts: number;
  /** The number of processes that run the hosts. */
  processes: number;
  idleSeconds: number;
  /** Rates in creations per second, measured one after the other. */
  rates: number[];
  seconds: number;
  /** VMs of one network that are measured with hosts that do not reach each other, and then do. Zero: none. */
  members: number;
  /**
   * The directory for profiles of the scheduler. Undefined: no profiles, because they cost time and
   * memory.
   */
  profiles: string | undefined;
  /** Whether the database records statistics of its statements, which has a small cost. */
  statements: boolean;
  signal: AbortSignal;
};

const GOALS = { memory: 1.3, heartbeatPercent: 20, p50Ms: 150, p99Ms: 750, spanning: 1.25 };
/**
 * The load: VMs without disks, for which goals are set. When there are enough VMs, each creation
 * deletes an older one.
 */
const LOADS = [
  { what: 'creation', stock: Number.POSITIVE_INFINITY, hasGoals: true },
  { what: 'creation and deletion', stock: 500, hasGoals: false },
];

export async function measureAttached(options: AttachedOptions): Promise<void> {
  const root = path.resolve(import.meta.dirname, '../../..');
  const home = benchHome('attached');
  const postgres = options.statements
    ? await startCountingPostgres(home)
    : await startEmbeddedPostgres({ home });
  const sql = connect({
    url: postgres.databaseUrl,
    name: 'bench',
    maxConnections: 4,
    statementLimitMs: 0,
  });
  const processes: BenchProcess[] = [];
  const start: Start = async (name, args, env) => {
    options.signal.throwIfAborted();
    const started = await startBenchProcess({ name, args, env });
    processes.push(started);
    return started;
  };
  try {
    const project = await makeBenchProject({
      ...{ root, sql, databaseUrl: postgres.databaseUrl, vms: 0 },
    });
    await sql`update images set source_url = 'http://simulated.invalid/image', sha256 = repeat('0', 64)`;
    await addPublicAddresses(sql, VM.location);
    await widenSubnet(sql, VM.location);
    const environment = {
      DATABASE_URL: postgres.databaseUrl,
      GANTRY_SECRET_KEY: project.secretKey,
      GANTRY_FLEET_KEY: project.fleetKey,
      ...{ GANTRY_PORT: '0', GANTRY_FLEET_PORT: '0' },
      ...{ GANTRY_RATE_LIMIT: '1000000', GANTRY_RATE_BURST: '1000000' },
    };
    const startProgram = (name: 'api' | 'scheduler') => {
      const program = path.join(root, 'packages', name, 'dist/main.mjs');
      return start(name, [...unitFlags(`gantry-${name}`), program], environment);
    };
    const scheduler = await startProgram('scheduler');
    const api = await startProgram('api');
    const place: Place = { ...options, sql, home, scheduler, start };
    const idleUs = await restingUs(place);
    const profile = profilerOf(place);
    await profile('cpu', 'attach');
    const kibPerHost = await attachAll(place, createSecrets(project.fleetKey));
    const bareKib = await measureBareStreams({ ...place, env: environment });
    row('memory of a bare stream with the same TLS', bareKib, 'KiB');
    row('scheduler memory per host beside a bare stream', kibPerHost / bareKib, 'times', {
      most: GOALS.memory,
    });
    await profile('cpu', 'attach');
    // The database does this by itself after some time.
    await sql`analyze hosts, host_revisions, devices`;
    await profile('cpu', 'idle');
    const withHostsUs = await restingUs(place);
    await profile('cpu', 'idle');
    row('scheduler CPU, idle with no host', idleUs / 1e4, '% of a core');
    row('scheduler CPU, idle with all attached', withHostsUs / 1e4, '% of a core');
    row('CPU of heartbeats', (withHostsUs - idleUs) / 1e4, '% of a core', {
      most: GOALS.heartbeatPercent,
    });
    await profile('cpu', 'creations');
    for (const perSecond of options.rates)
      for (const load of LOADS)
        await createVms(place, { project, api, postgresPid: postgres.pid, perSecond, ...load });
    await profile('cpu', 'creations');
    const creating = { project, api, postgresPid: postgres.pid };
    if (options.members > 0) await measureSpanning(place, creating);
  } finally {
    await Promise.allSettled(processes.map((one) => one.stop()));
    await sql.end({ timeout: 5 });
    await postgres.stop();
    await removeHome(home);
  }
}

type Place = AttachedOptions & { sql: Sql; home: string; scheduler: BenchProcess; start: Start };

async function attachAll(place: Place, secrets: ReturnType<typeof createSecrets>): Promise<number> {
  const { sql, scheduler, hosts, signal } = place;
  const fleets = await startHosts({ ...place, secrets });
  const before = await scheduler.usage();
  const begun = performance.now();
  for (const fleet of fleets) fleet.send({ begin: true });
  await waitUntilAttached(sql, { hosts, signal });
  const seconds = (performance.now() - begun) / 1_000;
  row(`${hosts} hosts attached, with their inventory`, seconds, 's');
  const attached = await scheduler.usage();
  row('scheduler CPU per attach', (attached.cpuUs - before.cpuUs) / 1e3 / hosts, 'ms');
  // By now the last reports have arrived.
  await delay(5_000, undefined, { signal });
  const kibPerHost = ((await scheduler.usage()).rss - before.rss) / KIB / hosts;
  row('scheduler memory per host', kibPerHost, 'KiB');
  const collected = await scheduler.usage({ collect: true });
  for (const fleet of fleets) await fleet.usage({ collect: true });
  const kib = (field: 'rss' | 'heapUsed' | 'external') =>
    (collected[field] - before[field]) / KIB / hosts;
  row('  after a full collection of garbage', kib('rss'), 'KiB');
  row('  of that in the JavaScript heap', kib('heapUsed'), 'KiB');
  row('  of that in buffers', kib('external'), 'KiB');
  return kibPerHost;
}

/** CPU time per second while the fleet is idle. */
async function restingUs({ scheduler, idleSeconds, signal }: Place): Promise<number> {
  const [before, begun] = [await scheduler.usage(), performance.now()];
  await delay(idleSeconds * 1_000, undefined, { signal });
  const after = await scheduler.usage();
  return (after.cpuUs - before.cpuUs) / ((performance.now() - begun) / 1_000);
}

/**
 * The same load twice, with many VMs of one network: first on hosts that cannot reach each other, then
 * on hosts with underlay addresses, which have to be told about every VM of the network.
 */
async function measureSpanning(place: Place, subject: Subject): Promise<void> {
  const { sql, members, hosts, rates } = place;
  const [{ running } = { running: 0 }] = await sql<{ running: number }[]>`
    select count(*)::int as running from placements`;
  const url = `http://127.0.0.1:${subject.api.ready['port']}`;
  const [perSecond = 50] = rates;
  const stock = Number.POSITIVE_INFINITY;
  const seconds = Math.ceil(Math.max(0, members - running) / perSecond);
  await createSteadily({ url, ...subject.project, perSecond, stock, seconds });
  const load = { ...subject, perSecond, what: 'creation and deletion', stock: 100 };
  const alone = await createVms(place, { ...load, hasGoals: false });
  await sql`update hosts h set underlay_address = '198.18.64.1'::inet + n.number
    from (select id, row_number() over (order by id) as number from hosts) n where n.id = h.id`;
  const [spread] = await sql<{ vms: number; hosts: number }[]>`
    select count(*)::int as vms, count(distinct host_id)::int as hosts from placements`;
  row(
    `VMs of one network, on ${spread?.hosts} of ${hosts} hosts that reach each other`,
    spread?.vms ?? 0,
    '',
  );
  const together = await createVms(place, { ...load, hasGoals: true });
  row('CPU beside that of hosts that do not', together / alone, 'times', { most: GOALS.spanning });
}

type Subject = {
  project: { projectId: string; accessKey: string };
  api: BenchProcess;
  postgresPid: number;
};
type Creating = Subject & { perSecond: number } & (typeof LOADS)[number];

/** Returns the CPU time of all processes for one operation, in milliseconds. */
async function createVms(place: Place, creating: Creating): Promise<number> {
  const { project, api, postgresPid, perSecond, what, stock, hasGoals } = creating;
  const { scheduler, seconds } = place;
  const load = {
    ...{ url: `http://127.0.0.1:${api.ready['port']}`, ...project },
    ...{ perSecond, stock },
  };
  await createSteadily({ ...load, seconds: Math.min(10, seconds) });
  await place.sql`analyze`;
  // Every connection plans its statements again after this.
  await createSteadily({ ...load, seconds: Math.min(10, seconds) });
  const before = [
    (await scheduler.usage()).cpuUs,
    (await api.usage()).cpuUs,
    cpuOfTree(postgresPid),
  ];
  if (place.statements) await forgetStatements(place.sql);
  const { seen, own, failed, lateMs } = await createSteadily({ ...load, seconds });
  const after = [
    (await scheduler.usage()).cpuUs,
    (await api.usage()).cpuUs,
    cpuOfTree(postgresPid),
  ];
  const goal = (most: number) => (hasGoals ? { most } : undefined);
  row(`asked for, each a ${what}`, perSecond, 'per second');
  row('POST to SUCCEEDED as polled, p50', percentile(seen, 0.5), 'ms', goal(GOALS.p50Ms));
  row('POST to SUCCEEDED as polled, p99', percentile(seen, 0.99), 'ms', goal(GOALS.p99Ms));
  row("POST to SUCCEEDED by the server's clock, p50", percentile(own, 0.5), 'ms');
  row("POST to SUCCEEDED by the server's clock, p99", percentile(own, 0.99), 'ms');
  row('creations that failed', failed, '', { most: 0 });
  row('most the client was behind its pace', lateMs, 'ms');
  const costs = ['scheduler', 'api (with polling)', 'PostgreSQL'].map((name, i) => {
    const ms = ((after[i] ?? 0) - (before[i] ?? 0)) / 1e3 / (perSecond * seconds);
    row(`${name} CPU per ${what}`, ms, 'ms');
    return ms;
  });
  if (place.statements) await printStatements(place.sql, { per: perSecond * seconds });
  return costs.reduce((sum, ms) => sum + ms, 0);
}

function profilerOf({ profiles, scheduler }: Place) {
  return async (kind: 'cpu' | 'heap', name: string) => {
    if (profiles === undefined) return;
    const suffix = kind === 'cpu' ? 'cpuprofile' : 'heapprofile';
    await scheduler.profile(kind, path.resolve(profiles, `${name}.${suffix}`));
  };
}
