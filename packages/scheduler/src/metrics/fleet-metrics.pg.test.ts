import { createLog } from '@gantry/daemon/log';
import { Metrics } from '@gantry/daemon/metrics/metrics';
import { acquireLeases } from '@gantry/db/queries/placement/leases';
import { failVm, hostFailure } from '@gantry/db/queries/settle/end-operation';
import { newId } from '@gantry/model/ids';
import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { addHosts } from '@gantry/testkit/make/hosts';
import { placeVm } from '@gantry/testkit/make/placements';
import { addProject } from '@gantry/testkit/make/tenants';
import { addVms } from '@gantry/testkit/make/vms';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { addFleetMetrics } from './fleet-metrics.ts';

const log = createLog({ process: 'test', level: 'silent' });
const LOCATION = 'eu-north-a';
let database: TestDatabase;
let projectId: string;

beforeEach(async () => {
  database = await createTestDatabase();
  projectId = await addProject(database.sql);
});
afterEach(() => database.drop());

/** The metrics of one scheduler, which are read anew at each scrape. */
function watch(schedulerId: string, everyMs = 0) {
  const metrics = new Metrics();
  addFleetMetrics(metrics, { sql: database.sql, log, schedulerId, everyMs });
  return async () =>
    (await metrics.render()).split('\n').filter((line) => line.startsWith('gantry_'));
}

async function holder(): Promise<string> {
  const id = newId();
  await acquireLeases(database.sql, { holder: id, ttlMs: 60_000 });
  return id;
}

it('counts hosts, devices, GPUs and VMs without the name or id of any of them', async () => {
  const { sql } = database;
  const [lost, drifted, healthy] = await addHosts(sql, 3, { gpus: 2 });
  if (!lost || !drifted || !healthy) throw new Error('BUG: three hosts were inserted');
  await sql`update hosts set state = 'unreachable' where id = ${lost.id}`;
  await sql`update hosts set drift = '{"kernel: 1 → 2"}', refusal = 'era' where id = ${drifted.id}`;
  await sql`update devices set state = 'quarantined' where id = ${lost.gpuIds[0] ?? ''}`;
  await sql`update devices set problems = '[{"rule": "link_narrow", "severity": "block"}]'
    where id = ${drifted.gpuIds[0] ?? ''}`;
  await addVms(sql, 2, { projectId });
  const series = await watch(await holder())();
  expect(series).toEqual(
    expect.arrayContaining([
      `gantry_fleet_hosts{location="${LOCATION}",state="unreachable",admin_state="active"} 1`,
      `gantry_fleet_hosts{location="${LOCATION}",state="ready",admin_state="active"} 2`,
      `gantry_fleet_hosts_drifted{location="${LOCATION}"} 1`,
      `gantry_fleet_hosts_troubled{location="${LOCATION}",reason="refusing"} 1`,
      `gantry_fleet_hosts_troubled{location="${LOCATION}",reason="impaired"} 0`,
      `gantry_fleet_devices{location="${LOCATION}",kind="gpu",state="quarantined"} 1`,
      `gantry_fleet_device_problems{location="${LOCATION}",kind="gpu",rule="link_narrow",severity="block"} 1`,
      `gantry_fleet_gpus{location="${LOCATION}",model="A40 48GB PCIe",use="free"} 2`,
      `gantry_fleet_gpus{location="${LOCATION}",model="A40 48GB PCIe",use="blocked"} 4`,
      `gantry_fleet_gpus_free_on_whole_hosts{location="${LOCATION}",model="A40 48GB PCIe"} 2`,
      `gantry_fleet_vms_unplaced{location="${LOCATION}"} 2`,
      'gantry_fleet_vms{state="STATE_CREATING"} 2',
      'gantry_fleet_operations_overdue 0',
    ]),
  );
  const text = series.join('\n');
  for (const secret of [lost.id, lost.name, projectId]) expect(text).not.toContain(secret);
});

it('a location where nothing waits has zeros, so that an alert can end', async () => {
  const series = await watch(await holder())();
  expect(series).toContain(`gantry_fleet_vms_unplaced{location="${LOCATION}"} 0`);
  expect(series).toContain(`gantry_fleet_hosts_behind{location="${LOCATION}"} 0`);
});

it('a scheduler without the first lease has no figures, so that none is counted twice', async () => {
  const first = await holder();
  const other = watch(newId());
  const isFigure = (line: string) => /^gantry_fleet_(?!vm_)/.test(line);
  expect((await watch(first)()).filter(isFigure).length).toBeGreaterThan(5);
  expect((await other()).filter(isFigure)).toEqual([]);
});

it('counts each end of an operation once, with the reason of a failure', async () => {
  const { sql } = database;
  const scrape = watch(await holder());
  await scrape();
  const [vmId = ''] = await addVms(sql, 1, { projectId });
  const [host] = await addHosts(sql, 1);
  await placeVm(sql, { vmId, hostId: host?.id ?? '', devices: [] });
  const failure = hostFailure('no');
  await failVm(sql, { vmId, generation: 1, failure, after: 'keep' });
  const line =
    'gantry_fleet_vm_operations_total{operation="create",result="failed",reason="host_failed"} 1';
  await expect.poll(scrape).toContain(line);
  expect(await scrape()).toContain(line);
});

it('reads the database again only after the given time', async () => {
  const scrape = watch(await holder(), 3_600_000);
  const count = `gantry_fleet_hosts{location="${LOCATION}",state="ready",admin_state="active"} 1`;
  await addHosts(database.sql, 1);
  expect(await scrape()).toContain(count);
  await addHosts(database.sql, 1);
  expect(await scrape()).toContain(count);
});
