import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { connect, type Sql } from '@gantry/db/connect';
import { migrate } from '@gantry/db/migrate';
import { startEmbeddedPostgres } from '@gantry/local/postgres/embedded-postgres';
import { newId } from '@gantry/model/ids';
import { type Placer, placePending } from '@gantry/scheduler/place/place-pending';
import { removeHome } from '@gantry/testkit/database/remove-home';
import { addHosts } from '@gantry/testkit/make/hosts';
import { holdLocation, makePlacer } from '@gantry/testkit/make/placers';
import { addProject } from '@gantry/testkit/make/tenants';
import { addVms, removeVms } from '@gantry/testkit/make/vms';
import { median } from '../median.ts';

/**
 * Measures VMs placed and committed per second, and the CPU time of the placer and the database per
 * VM, in locations of a thousand and of ten thousand hosts, compared with plain commits of single
 * rows over 16 connections. Rounds alternate, so that noise of the machine affects all of them.
 */
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 5);
const VMS = 2_000;
const COMMITS = 4_000;
const CONNECTIONS = 16;
const GOALS = { growth: 1.5, rate: 0.5 };
const SIZES = [
  { location: 'eu-north-a', hosts: 1_000 },
  { location: 'us-east-a', hosts: 10_000 },
];
const TICK_US = 10_000;

const home = path.join(import.meta.dirname, '../../../.gantry/bench', `commits-${process.pid}`);
const postgres = await startEmbeddedPostgres({ home });
await migrate(postgres.databaseUrl);
const sql = connect({
  url: postgres.databaseUrl,
  name: 'bench',
  maxConnections: CONNECTIONS,
  statementLimitMs: 0,
});
try {
  process.exitCode = (await compare()) ? 0 : 1;
} finally {
  await sql.end({ timeout: 5 });
  await postgres.stop();
  await removeHome(home);
}

type Measured = { perSecond: number; placerUs: number; databaseUs: number };

async function compare(): Promise<boolean> {
  const projectId = await addProject(sql);
  await sql`create table plain_rows (id uuid primary key)`;
  const placers: Placer[] = [];
  for (const { location, hosts } of SIZES) {
    for (let added = 0; added < hosts; added += 1_000)
      await addHosts(sql, 1_000, { location, gpus: 8, nodes: 2 });
    const placer = makePlacer(sql, await holdLocation(sql, location));
    const started = performance.now();
    await placer.hostCache.refresh();
    console.log(`${hosts} hosts read in ${(performance.now() - started).toFixed(0)} ms`);
    placers.push(placer);
  }
  const plain: number[] = [];
  const results = SIZES.map((): Measured[] => []);
  for (let round = 0; round <= ROUNDS; round += 1) {
    const commits = await commitRows();
    if (round > 0) plain.push(commits);
    for (const [i, placer] of placers.entries()) {
      const measured = await place(placer, projectId);
      // The first round is a warm-up.
      if (round > 0) results[i]?.push(measured);
    }
  }
  return report(plain, results);
}

function report(plain: number[], results: Measured[][]): boolean {
  const of = (i: number, what: keyof Measured) => median(results[i]?.map((one) => one[what]) ?? []);
  SIZES.forEach(({ hosts }, i) => {
    console.log(
      `${hosts} hosts: ${of(i, 'perSecond').toFixed(0)} placements/s, each ${of(i, 'placerUs').toFixed(0)} µs of the ` +
        `placer and ${of(i, 'databaseUs').toFixed(0)} µs of the database`,
    );
  });
  console.log(`plain commits over ${CONNECTIONS} connections: ${median(plain).toFixed(0)}/s`);
  const cpu = (i: number) => of(i, 'placerUs') + of(i, 'databaseUs');
  const growth = cpu(1) / cpu(0);
  const rate = of(1, 'perSecond') / median(plain);
  const verdict = (met: boolean) => (met ? 'met' : 'MISSED');
  console.log(
    `CPU with ten times the hosts: ${growth.toFixed(2)} times; goal ${GOALS.growth}: ${verdict(growth <= GOALS.growth)}`,
  );
  console.log(
    `placements to plain commits: ${rate.toFixed(2)}; goal ${GOALS.rate}: ${verdict(rate >= GOALS.rate)}`,
  );
  return growth <= GOALS.growth && rate >= GOALS.rate;
}

async function place(placer: Placer, projectId: string): Promise<Measured> {
  const { location } = placer.lease;
  const vmIds = await addVms(sql, VMS, { projectId, location });
  // The database does this by itself after some time.
  await sql`analyze`;
  const [databaseBefore, placerBefore, started] = [
    await databaseUs(sql),
    process.cpuUsage(),
    performance.now(),
  ];
  let placed = 0;
  while (placed < VMS) placed += (await placePending(placer)).placed;
  const seconds = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(placerBefore);
  const measured = {
    perSecond: VMS / seconds,
    placerUs: (user + system) / VMS,
    databaseUs: ((await databaseUs(sql)) - databaseBefore) / VMS,
  };
  await removeVms(sql, vmIds);
  await placer.hostCache.refresh();
  return measured;
}

async function commitRows(): Promise<number> {
  const ids = Array.from({ length: COMMITS }, () => newId());
  const started = performance.now();
  await Promise.all(ids.map((id) => sql`insert into plain_rows (id) values (${id})`));
  return COMMITS / ((performance.now() - started) / 1000);
}

/** CPU time of the sessions of this pool. */
async function databaseUs(pool: Sql): Promise<number> {
  const rows = await pool<{ pid: number }[]>`
    select pid from pg_stat_activity where application_name = 'bench' and datname = current_database()`;
  let ticks = 0;
  for (const { pid } of rows) {
    const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? [];
    ticks += Number(fields[11]) + Number(fields[12]);
  }
  return ticks * TICK_US;
}
