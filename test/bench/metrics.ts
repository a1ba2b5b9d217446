import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Identity } from '@gantry/agent/identity/identity';
import { addAgentMetrics } from '@gantry/agent/metrics/agent-metrics';
import { addDeviceMetrics } from '@gantry/agent/metrics/device-metrics';
import { addHostMetrics } from '@gantry/agent/metrics/host-metrics';
import { Metrics } from '@gantry/daemon/metrics/metrics';
import { addProcessMetrics } from '@gantry/daemon/metrics/process-metrics';
import { connect, type Sql } from '@gantry/db/connect';
import { startEmbeddedPostgres } from '@gantry/local/postgres/embedded-postgres';
import { loadAuthority, makeAuthority } from '@gantry/pki/certificate-authority';
import { issueHostCertificate } from '@gantry/pki/issue-certificate';
import { makePrivateKey, privateKeyPem, publicKeyOf } from '@gantry/pki/keys';
import { SERVER_MODELS } from '@gantry/simulator/servers/server-models';
import { simulatedInventory } from '@gantry/simulator/servers/simulated-inventory';
import { removeHome } from '@gantry/testkit/database/remove-home';
import { addHosts } from '@gantry/testkit/make/hosts';
import { addVms } from '@gantry/testkit/make/vms';
import { unitFlags } from '@gantry/testkit/processes/unit-flags';
import { benchHome } from './fleet/home.ts';
import { type BenchProcess, cpuOfTree, startBenchProcess } from './fleet/process.ts';
import { row } from './fleet/table.ts';
import { median } from './median.ts';
import { runParts } from './run-parts.ts';
import { makeBenchProject } from './subject.ts';

/**
 * What a scrape costs each process, and how many series an installation with many hosts has. A scrape costs much
 * less than a process does by itself in 15 seconds, so it is repeated every second, and the CPU time of the same time
 * without scrapes is subtracted. The result is the median of several rounds, for a scrape every 15 seconds.
 */
const { values } = parseArgs({
  options: {
    hosts: { type: 'string', default: '10000' },
    gpus: { type: 'string', default: '8' },
    vms: { type: 'string', default: '1000' },
    /** Of one round. A multiple of four, because devices are counted in every fourth reading. */
    scrapes: { type: 'string', default: '12' },
    rounds: { type: 'string', default: '3' },
  },
});
const INTERVAL_S = 15;
const GOAL = { most: 1 };
const scrapes = Number(values.scrapes);

await runParts({ 'control plane': measureControlPlane, agent: measureAgent }, []);

async function measureControlPlane(signal: AbortSignal): Promise<void> {
  const root = path.resolve(import.meta.dirname, '../..');
  const home = benchHome('metrics');
  const postgres = await startEmbeddedPostgres({ home });
  const { databaseUrl } = postgres;
  const sql = connect({ url: databaseUrl, name: 'bench', statementLimitMs: 0 });
  const processes: BenchProcess[] = [];
  try {
    const project = await makeBenchProject({ root, sql, databaseUrl, vms: 0 });
    await makeFleet(sql, project.projectId);
    const env = {
      DATABASE_URL: databaseUrl,
      GANTRY_SECRET_KEY: project.secretKey,
      GANTRY_FLEET_KEY: project.fleetKey,
      ...{ GANTRY_PORT: '0', GANTRY_FLEET_PORT: '0', GANTRY_METRICS_PORT: '0' },
      // The hosts are rows without streams, and every scrape reads them.
      ...{ GANTRY_UNREACHABLE_AFTER_MS: '3600000', GANTRY_FLEET_METRICS_S: '1' },
    };
    for (const name of ['api', 'scheduler'] as const) {
      const program = path.join(root, 'packages', name, 'dist/main.mjs');
      const args = [...unitFlags(`gantry-${name}`), program];
      const measured = await startBenchProcess({ name, args, env });
      processes.push(measured);
      if (name === 'api') await callEveryRoute(`http://127.0.0.1:${measured.ready['port']}`);
      await measureScrapes({ name, measured, postgresPid: postgres.pid, signal });
    }
  } finally {
    await Promise.allSettled(processes.map((one) => one.stop()));
    await sql.end({ timeout: 5 });
    await postgres.stop();
    await removeHome(home);
  }
}

async function makeFleet(sql: Sql, projectId: string): Promise<void> {
  const batch = 1_000;
  for (let made = 0; made < Number(values.hosts); made += batch)
    await addHosts(sql, Math.min(batch, Number(values.hosts) - made), {
      gpus: Number(values.gpus),
    });
  await addVms(sql, Number(values.vms), { projectId });
  await sql`update operations set state = 'SUCCEEDED', completed_at = now()`;
  await sql`update vms set desired_state = 'stopped', observed_state = 'stopped', observed_generation = generation`;
  await sql`insert into host_certificates (serial, host_id, not_after)
    select id::text, id, now() + interval '90 days' from hosts`;
  await sql`analyze`;
}

/** So that the api has every series that it can have with one status. */
async function callEveryRoute(url: string): Promise<void> {
  const document = (await (await fetch(`${url}/v0.1/openapi.json`)).json()) as {
    paths: Record<string, Record<string, unknown>>;
  };
  for (const [route, methods] of Object.entries(document.paths))
    for (const method of Object.keys(methods))
      await fetch(`${url}${route.replaceAll(/\{\w+\}/g, '01a1dcf6-0006-767f-9165-872680039855')}`, {
        method: method.toUpperCase(),
        signal: AbortSignal.timeout(5_000),
      }).then((reply) => reply.body?.cancel());
}

type Measuring = {
  name: string;
  measured: BenchProcess;
  postgresPid: number;
  signal: AbortSignal;
};

async function measureScrapes({ name, measured, postgresPid, signal }: Measuring): Promise<void> {
  const url = `http://127.0.0.1:${measured.ready['metrics_port']}/metrics`;
  const scrape = async () => await (await fetch(url)).text();
  const cpu = async () => [(await measured.usage()).cpuUs, cpuOfTree(postgresPid)] as const;
  const round = async (work: () => Promise<unknown>) => {
    const [own, database] = await cpu();
    for (let i = 0; i < scrapes; i += 1) {
      signal.throwIfAborted();
      await Promise.all([work(), delay(1_000)]);
    }
    const [ownAfter, databaseAfter] = await cpu();
    return { own: ownAfter - own, database: databaseAfter - database };
  };
  // Warms up: leases are acquired, statements are planned, code is compiled.
  for (let i = 0; i < 5; i += 1) await Promise.all([scrape(), delay(1_000)]);
  const costs: { own: number; database: number }[] = [];
  for (let i = 0; i < Number(values.rounds); i += 1) {
    const idle = await round(async () => {});
    const scraped = await round(scrape);
    costs.push({ own: scraped.own - idle.own, database: scraped.database - idle.database });
  }
  const text = await scrape();
  row(`series of ${/^[aeiou]/.test(name) ? 'an' : 'a'} ${name}`, seriesIn(text), '');
  row('  size of its reply', Buffer.byteLength(text) / 1_024, 'KiB');
  printCost('  its CPU', median(costs.map(({ own }) => own)) / scrapes);
  printCost('  CPU of PostgreSQL', median(costs.map(({ database }) => database)) / scrapes);
}

function printCost(what: string, usPerScrape: number): void {
  row(`${what} per scrape`, usPerScrape / 1e3, 'ms');
  row(`${what}, a scrape every 15 s`, usPerScrape / 1e4 / INTERVAL_S, '% of a core', GOAL);
}

function seriesIn(text: string): number {
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length;
}

/** The agent's own functions on this machine, with the devices of a server with eight GPUs. */
async function measureAgent(): Promise<void> {
  const model = SERVER_MODELS.find(({ name }) => name === 'a40-8');
  if (!model) throw new Error('BUG: there is no server model a40-8');
  const { devices } = await simulatedInventory(model);
  const metrics = new Metrics();
  addProcessMetrics(metrics);
  const identity = makeIdentity();
  const figures = () => ({ specNumber: 1, isRefusing: false, vms: 8 });
  addAgentMetrics(metrics, { identity: () => identity, isAttached: () => true, figures });
  const pool = {
    name: '/data',
    diskKinds: [],
    sizeBytes: 1e12,
    freeBytes: 5e11,
    offeredBytes: 1e12,
  };
  addHostMetrics(metrics, {
    ...{ sysfsRoot: '/sys', procRoot: '/proc' },
    readStoragePools: async () => [pool],
  });
  addDeviceMetrics(metrics, () => devices);
  for (let i = 0; i < 10; i += 1) await metrics.render();
  const before = process.cpuUsage();
  for (let i = 0; i < scrapes; i += 1) await metrics.render();
  const { user, system } = process.cpuUsage(before);
  const text = await metrics.render();
  row('series of an agent with eight GPUs', seriesIn(text), '');
  printCost('  its CPU', (user + system) / scrapes);
}

function makeIdentity(): Identity {
  const files = makeAuthority();
  const key = makePrivateKey();
  const hostId = '01a1dcf6-0006-767f-9165-872680039855';
  const { pem } = issueHostCertificate(loadAuthority(files), {
    ...{ hostId, publicKey: publicKeyOf(key), ttlMs: 86_400_000 },
  });
  return { hostId, keyPem: privateKeyPem(key), certificatePem: pem, caPem: files.certificatePem };
}
