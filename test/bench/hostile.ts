import path from 'node:path';
import { parseArgs } from 'node:util';
import { createSecrets } from '@gantry/daemon/secrets';
import { connect, type Sql } from '@gantry/db/connect';
import {
  insertOrganization,
  insertPaymentMethod,
  insertProject,
} from '@gantry/db/queries/tenants/tenants';
import { startEmbeddedPostgres } from '@gantry/local/postgres/embedded-postgres';
import { newId } from '@gantry/model/ids';
import { removeHome } from '@gantry/testkit/database/remove-home';
import { makeAccessKey } from '@gantry/testkit/make/tenants';
import { unitFlags } from '@gantry/testkit/processes/unit-flags';
import { type Creations, createSteadily } from './fleet/creations.ts';
import { benchHome } from './fleet/home.ts';
import { addPublicAddresses } from './fleet/members.ts';
import { type BenchProcess, cpuOfTree, startBenchProcess } from './fleet/process.ts';
import { startHosts, waitUntilAttached } from './fleet/start-hosts.ts';
import { forgetStatements, printStatements, startCountingPostgres } from './fleet/statements.ts';
import { row } from './fleet/table.ts';
import type { AttackCounts, AttackedProject, AttackInput, AttackKind } from './hostile/attack.ts';
import { percentile } from './percentile.ts';
import { runParts } from './run-parts.ts';
import { makeBenchProject, VM } from './subject.ts';

/**
 * What a tenant notices of another one that uses all its quotas at the full rate. One tenant creates
 * and deletes a VM every second, first alone and then beside the other one. All settings and all quotas of
 * the other one are the defaults.
 */
const { values } = parseArgs({
  options: {
    hosts: { type: 'string', default: '300' },
    /** How long the tenant is alone. */
    quiet: { type: 'string', default: '120' },
    /** How long the attack lasts. */
    seconds: { type: 'string', default: '600' },
    keys: { type: 'string', default: '8' },
    /** What the other tenant does. */
    attack: { type: 'string', default: 'vms,rules,lists' },
    /** Prints the statements by their cost. Recording them has a small cost. */
    statements: { type: 'boolean', default: false },
  },
});
const GOALS = { p99: 1.5 };
const PER_SECOND = 1;
const STOCK = 20;
/** The other tenant has as many VMs in two projects as its organization may have. */
const PROJECTS = 2;
const HOST_PROCESSES = 2;
/** In this time the other tenant fills its quotas, at least in part. */
const FILL_SECONDS = 60;
/** Every connection plans its statements again after the tables were analyzed. */
const SETTLE_SECONDS = 10;

const KINDS: readonly AttackKind[] = ['vms', 'rules', 'lists'];
const kinds = KINDS.filter((kind) => values.attack.split(',').includes(kind));
if (kinds.length !== values.attack.split(',').length) {
  console.error(`--attack is a list of ${KINDS.join(', ')}.`);
  process.exit(2);
}

await runParts({ hostile: measureHostile }, []);

async function measureHostile(signal: AbortSignal): Promise<void> {
  const root = path.resolve(import.meta.dirname, '../..');
  const home = benchHome('hostile');
  const postgres = values.statements
    ? await startCountingPostgres(home)
    : await startEmbeddedPostgres({ home });
  const { databaseUrl } = postgres;
  const sql = connect({ url: databaseUrl, name: 'bench', maxConnections: 4, statementLimitMs: 0 });
  const processes: BenchProcess[] = [];
  const start = async (name: string, args: string[], env: Record<string, string>) => {
    signal.throwIfAborted();
    const started = await startBenchProcess({ name, args, env });
    processes.push(started);
    return started;
  };
  try {
    const project = await makeBenchProject({ root, sql, databaseUrl, vms: 0 });
    await sql`update images set source_url = 'http://simulated.invalid/image', sha256 = repeat('0', 64)`;
    await addPublicAddresses(sql, VM.location);
    const env = {
      ...{ DATABASE_URL: databaseUrl, GANTRY_SECRET_KEY: project.secretKey },
      ...{ GANTRY_FLEET_KEY: project.fleetKey, GANTRY_PORT: '0', GANTRY_FLEET_PORT: '0' },
    };
    const startProgram = (name: 'api' | 'scheduler') =>
      start(
        name,
        [...unitFlags(`gantry-${name}`), path.join(root, 'packages', name, 'dist/main.mjs')],
        env,
      );
    const scheduler = await startProgram('scheduler');
    const api = await startProgram('api');
    const hosts = Number(values.hosts);
    const secrets = createSecrets(project.fleetKey);
    const fleet = { sql, secrets, hosts, processes: HOST_PROCESSES, home, scheduler, start };
    const fleets = await startHosts(fleet);
    for (const one of fleets) one.send({ begin: true });
    await waitUntilAttached(sql, { hosts, signal });
    await sql`analyze`;
    const url = `http://127.0.0.1:${api.ready['port']}`;
    const load = { url, ...project, perSecond: PER_SECOND, stock: STOCK };
    await createSteadily({ ...load, seconds: STOCK });
    const alone = await createSteadily({ ...load, seconds: Number(values.quiet) });
    const input: AttackInput = { url, projects: await addHostileTenant(sql), kinds };
    const attack = await start(
      'attack',
      ['--import', 'tsx', path.join(import.meta.dirname, 'hostile/attack.ts')],
      { BENCH_ATTACK: JSON.stringify(input) },
    );
    const epochsBefore = await countEpochs(sql);
    attack.send({ begin: true });
    await createSteadily({ ...load, seconds: FILL_SECONDS });
    // The database does this by itself after some time.
    await sql`analyze`;
    await createSteadily({ ...load, seconds: SETTLE_SECONDS });
    const readCpu = async () => ({
      'the scheduler': (await scheduler.usage()).cpuUs,
      'the api': (await api.usage()).cpuUs,
      PostgreSQL: cpuOfTree(postgres.pid),
      'the hosts': await sumOf(fleets.map(async (one) => (await one.usage()).cpuUs)),
    });
    if (values.statements) await forgetStatements(sql);
    const [cpuBefore, begunMs] = [await readCpu(), performance.now()];
    const beside = await createSteadily({ ...load, seconds: Number(values.seconds) });
    const [cpuAfter, tookMs] = [await readCpu(), performance.now() - begunMs];
    for (const [name, us] of Object.entries(cpuAfter))
      row(
        `CPU of ${name}`,
        (us - cpuBefore[name as keyof typeof cpuBefore]) / 10 / tookMs,
        '% of a core',
      );
    print({ alone, beside, leaseLosses: (await countEpochs(sql)) - epochsBefore });
    const per = tookMs / 1_000;
    if (values.statements) await printStatements(sql, { per, unit: 'second' });
    await printAttack(sql, { attack, projects: input.projects });
  } finally {
    await Promise.allSettled(processes.map((one) => one.stop()));
    await sql.end({ timeout: 5 });
    await postgres.stop();
    await removeHome(home);
  }
}

async function sumOf(amounts: Promise<number>[]): Promise<number> {
  return (await Promise.all(amounts)).reduce((sum, amount) => sum + amount, 0);
}

async function addHostileTenant(sql: Sql): Promise<AttackedProject[]> {
  const organizationId = newId();
  await insertOrganization(sql, {
    ...{ id: organizationId, name: 'hostile', payment_customer_id: organizationId },
  });
  await insertPaymentMethod(sql, { organizationId, provider: 'local', details: { holder: 'h' } });
  const projects: AttackedProject[] = [];
  for (let i = 0; i < PROJECTS; i += 1) {
    const projectId = newId();
    await insertProject(sql, { id: projectId, name: `p${i}`, organization_id: organizationId });
    const accessKeys: string[] = [];
    for (let key = 0; key < Number(values.keys); key += 1)
      accessKeys.push(await makeAccessKey({ sql }, projectId, 'member'));
    projects.push({ projectId, accessKeys });
  }
  return projects;
}

/** A lease that was lost and acquired again has another epoch. */
async function countEpochs(sql: Sql): Promise<number> {
  const [found] = await sql<{ epochs: number }[]>`select sum(epoch)::int as epochs from leases`;
  return found?.epochs ?? 0;
}

type Outcome = { alone: Creations; beside: Creations; leaseLosses: number };

function print({ alone, beside, leaseLosses }: Outcome): void {
  const p = (creations: Creations, part: number) => percentile(creations.seen, part);
  row('POST to SUCCEEDED, alone, p50', p(alone, 0.5), 'ms');
  row('POST to SUCCEEDED, alone, p99', p(alone, 0.99), 'ms');
  row('POST to SUCCEEDED, beside the other tenant, p50', p(beside, 0.5), 'ms');
  row('POST to SUCCEEDED, beside the other tenant, p99', p(beside, 0.99), 'ms');
  row('p99 beside that of the tenant alone', p(beside, 0.99) / p(alone, 0.99), 'times', {
    most: GOALS.p99,
  });
  row('creations that failed', alone.failed + beside.failed, '', { most: 0 });
  row('leases lost', leaseLosses, '', { most: 0 });
}

type Attack = { attack: BenchProcess; projects: AttackedProject[] };

async function printAttack(sql: Sql, { attack, projects }: Attack): Promise<void> {
  const counted = new Promise<AttackCounts>((resolve) =>
    attack.on(({ counted }) => {
      if (counted) resolve(counted as AttackCounts);
    }),
  );
  attack.send({ counts: true });
  const ids = projects.map(({ projectId }) => projectId);
  const [has] = await sql<{ vms: number; rules: number }[]>`
    select (select count(*)::int from vms where project_id = any(${ids}::uuid[])) as vms,
      (select count(*)::int from firewall_rules where project_id = any(${ids}::uuid[])) as rules`;
  console.log(`the other tenant has ${has?.vms} VMs and ${has?.rules} rules; its requests:`);
  for (const [what, count] of Object.entries(await counted).sort())
    console.log(`  ${String(count).padStart(8)} ${what}`);
}
