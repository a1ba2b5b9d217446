import path from 'node:path';
import { parseArgs } from 'node:util';
import { connect, type Sql } from '@gantry/db/connect';
import {
  type Fitting,
  osDiskOf,
  readOffers,
  recordAvailabilities,
} from '@gantry/db/queries/catalogue/availabilities';
import { readPlacementHosts } from '@gantry/db/queries/placement/placement-hosts';
import { startEmbeddedPostgres } from '@gantry/local/postgres/embedded-postgres';
import { whyNoHost } from '@gantry/placement/choose-host';
import { countFitting } from '@gantry/placement/count-fitting';
import { newHostIndex } from '@gantry/placement/host-index';
import { hostsFromRows } from '@gantry/placement/hosts-from-rows';
import { requestFor } from '@gantry/placement/request-for';
import { removeHome } from '@gantry/testkit/database/remove-home';
import { addHosts } from '@gantry/testkit/make/hosts';
import { unitFlags } from '@gantry/testkit/processes/unit-flags';
import { benchHome } from './fleet/home.ts';
import { type BenchProcess, cpuOfTree, startBenchProcess } from './fleet/process.ts';
import { row } from './fleet/table.ts';
import { runParts } from './run-parts.ts';
import { makeBenchProject, VM } from './subject.ts';

/**
 * What people see of a location costs CPU: the counts of free places that a scheduler keeps for tenants, and the
 * replies that the console reads. Each is measured with 100, 1,000 and 10,000 hosts of eight GPUs. What is about one
 * type or one host must not cost more in a large location.
 */
const { values } = parseArgs({
  options: {
    hosts: { type: 'string', default: '100,1000,10000' },
    requests: { type: 'string', default: '200' },
  },
});
const SIZES = values.hosts.split(',').map(Number);
const REQUESTS = Number(values.requests);
/** A reply with all hosts is large, so fewer of them are enough. */
const LARGE_REQUESTS = Math.max(5, Math.round(REQUESTS / 20));
const LOCATION = VM.location;
const MOST_COUNTED = 100;
const MOST_GROWTH = { most: 2 };

await runParts({ 'what people see of a location': measureViews }, []);

async function measureViews(signal: AbortSignal): Promise<void> {
  const root = path.resolve(import.meta.dirname, '../..');
  const home = benchHome('views');
  const postgres = await startEmbeddedPostgres({ home });
  const { databaseUrl } = postgres;
  const sql = connect({ url: databaseUrl, name: 'bench', statementLimitMs: 0 });
  let api: BenchProcess | undefined;
  try {
    const project = await makeBenchProject({ root, sql, databaseUrl, vms: 0 });
    const env = { DATABASE_URL: databaseUrl, GANTRY_SECRET_KEY: project.secretKey };
    const program = path.join(root, 'packages/api/dist/main.mjs');
    api = await startBenchProcess({
      ...{ name: 'api', args: [...unitFlags('gantry-api'), program] },
      env: { ...env, GANTRY_PORT: '0', GANTRY_RATE_LIMIT: '1000000', GANTRY_RATE_BURST: '1000000' },
    });
    const url = `http://127.0.0.1:${api.ready['port']}/v0.1`;
    const operator = await logIn(url, project.operator);
    const subject = { api, postgresPid: postgres.pid, signal };
    const ofProject = `${url}/projects/${project.projectId}`;
    const first: Record<string, number> = {};
    for (const hosts of SIZES) {
      const hostId = await growTo(sql, hosts);
      row(`${hosts} hosts: counting the places of all types`, await countAll(sql), 'ms CPU');
      const views: View[] = [
        { name: 'availabilities', url: `${ofProject}/availabilities`, bearer: project.accessKey },
        { name: 'one host of the map', url: `${url}/admin/fleet?host_ids=${hostId}` },
        { name: 'the whole map', url: `${url}/admin/fleet`, isLarge: true },
        { name: 'fleet summary', url: `${url}/admin/fleet/summary`, isLarge: true },
        {
          ...{ name: 'explanation', url: `${url}/admin/placements:explain`, isLarge: true },
          body: { type: VM.type, location: LOCATION },
        },
      ];
      for (const view of views) {
        const cost = await measure(subject, { bearer: operator, ...view });
        const name = `${hosts} hosts: ${view.name}`;
        row(`${name}, CPU of the api`, cost.api, 'ms/request');
        row(`${name}, CPU of PostgreSQL`, cost.postgres, 'ms/request');
        row(`${name}, size`, cost.bytes / 1_024, 'KiB');
        const whole = cost.api + cost.postgres;
        const atFirst = first[view.name] ?? whole;
        first[view.name] = atFirst;
        if (!view.isLarge && hosts === SIZES.at(-1))
          row(`  growth since ${SIZES[0]} hosts`, whole / atFirst, 'times', MOST_GROWTH);
      }
    }
  } finally {
    await api?.stop();
    await sql.end({ timeout: 5 });
    await postgres.stop();
    await removeHome(home);
  }
}

async function logIn(url: string, user: { email: string; password: string }): Promise<string> {
  const reply = await fetch(`${url}/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ grant_type: 'password', ...user }),
  });
  return ((await reply.json()) as { access_token: string }).access_token;
}

/** Adds hosts until there are so many. Returns the id of one. */
async function growTo(sql: Sql, hosts: number): Promise<string> {
  const [counted] = await sql<{ count: number; id: string | null }[]>`
    select count(*)::int as count, min(id::text) as id from hosts`;
  let { count = 0, id = null } = counted ?? {};
  for (; count < hosts; count += 500) {
    const [one] = await addHosts(sql, Math.min(500, hosts - count), {
      ...{ gpus: 8, nodes: 2, location: LOCATION },
    });
    id ??= one?.id ?? null;
  }
  await sql`analyze`;
  return id ?? '';
}

/** Counts and writes the places of each type as a scheduler does. Returns the CPU time of the counting. */
async function countAll(sql: Sql): Promise<number> {
  const index = newHostIndex();
  const rows = await readPlacementHosts(sql, { location: LOCATION, hostIds: null });
  for (const host of hostsFromRows(rows)) index.put(host);
  const [offer] = await readOffers(sql, [LOCATION]);
  const types = offer?.types ?? [];
  const count = () =>
    new Map<string, Fitting>(
      types.map((type) => {
        const request = requestFor(LOCATION, type, osDiskOf(type));
        const fitting = countFitting(index, request, MOST_COUNTED);
        const lacking = fitting > 0 ? '' : (whyNoHost(index, request).at(-1)?.filter ?? '');
        return [type.name, { fitting, lacking }];
      }),
    );
  await recordAvailabilities(sql, { location: LOCATION, types: count() });
  const runs = 20;
  const before = process.cpuUsage();
  for (let run = 0; run < runs; run += 1) count();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / runs;
}

type View = { name: string; url: string; bearer?: string; body?: object; isLarge?: boolean };
type Subject = { api: BenchProcess; postgresPid: number; signal: AbortSignal };

async function measure(
  { api, postgresPid, signal }: Subject,
  { url, bearer, body, isLarge = false }: View,
) {
  const request = async () => {
    signal.throwIfAborted();
    const reply = await fetch(url, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const bytes = (await reply.arrayBuffer()).byteLength;
    if (reply.status !== 200) throw new Error(`${url} replied ${reply.status}`);
    return bytes;
  };
  const count = isLarge ? LARGE_REQUESTS : REQUESTS;
  // Statements are planned and code is compiled.
  for (let sent = 0; sent < Math.min(20, count); sent += 1) await request();
  const cpu = async () => [(await api.usage()).cpuUs, cpuOfTree(postgresPid)] as const;
  const [apiBefore, postgresBefore] = await cpu();
  let bytes = 0;
  for (let sent = 0; sent < count; sent += 1) bytes = await request();
  const [apiAfter, postgresAfter] = await cpu();
  return {
    api: (apiAfter - apiBefore) / 1_000 / count,
    postgres: (postgresAfter - postgresBefore) / 1_000 / count,
    bytes,
  };
}
