import { newId } from '@gantry/model/ids';
import { CATALOGUE } from '@gantry/model/vm-types';
import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { type Plan, type PlanWatch, watchPlans } from '@gantry/testkit/database/watch-plans';
import { addProject } from '@gantry/testkit/make/tenants';
import { addVms } from '@gantry/testkit/make/vms';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  removeOldAuditLogs,
  removeOldIntervals,
  removeOldOperations,
} from './maintenance/remove-history.ts';
import { listOperations, readUnfinishedOperation } from './operations/operations.ts';
import { listAllDisks } from './operators/all-disks.ts';
import { countFailedOperations, listAllOperations } from './operators/all-operations.ts';
import { listAllVms } from './operators/all-vms.ts';
import { succeedVmOperation } from './settle/end-operation.ts';
import { insertAdjustments } from './usage/adjustments.ts';
import { closeInterval, openInterval } from './usage/meter.ts';
import { hasUnbilledUsage } from './usage/unbilled-usage.ts';
import { closeDay, closeDueDays } from './usage/usage.ts';
import { readVmUsage } from './usage/vm-usage.ts';
import { listVms } from './vms/vms.ts';

/**
 * What a statement reads must not grow with what happened before. The history here is large enough that
 * a statement that reads it would exceed its limit many times over.
 */
const HISTORY = 40_000;
const VMS = 10_000;
const PAGE = 101;
/** PostgreSQL prepares a plan for all values after five executions; it must be as good as the others. */
const EXECUTIONS = 8;

let database: TestDatabase;
let watch: PlanWatch;
let projectId: string;
let organizationId: string;
let vmIds: string[];
const today = Math.floor(Date.now() / 86_400_000) * 86_400_000;
const dateOf = (daysAgo: number) =>
  new Date(today - daysAgo * 86_400_000).toISOString().slice(0, 10);

beforeAll(async () => {
  database = await createTestDatabase();
  const { sql } = database;
  projectId = await addProject(sql);
  const [project] = await sql`select organization_id from projects where id = ${projectId}`;
  organizationId = project?.['organization_id'];
  await sql`update organization_quotas set max = 1000000`;
  vmIds = [];
  // Each VM updates the quota of its project, so one large transaction would take much longer.
  while (vmIds.length < VMS) vmIds.push(...(await addVms(sql, 500, { projectId })));
  await sql`update vms set observed_state = 'running', observed_generation = generation`;
  await sql`update operations set state = 'SUCCEEDED', completed_at = now(), result = '{}'`;
  await sql`update vms set observed_state = 'crashed', tags = '{"rare": "yes"}' where id = ${vmIds.at(-1) ?? ''}`;
  await sql`update vms set tags = '{"common": "yes"}' where id = any(${vmIds.slice(0, VMS / 2)}::uuid[])`;
  await insertHistory();
  await sql`analyze`;
  watch = await watchPlans(database.url);
}, 120_000);
afterAll(async () => {
  await watch?.end();
  await database.drop();
});

/** An hour of history per row, so that it reaches back for years; the newest row is two days old. */
async function insertHistory(): Promise<void> {
  const { sql } = database;
  const ids = Array.from({ length: HISTORY }, (_, age) =>
    newId(today - 2 * 86_400_000 - age * 3_600_000),
  );
  await sql`insert into operations (id, project_id, resource_type, resource_id, name, state, request, result, started_at, completed_at, deadline_at)
    select h.id, ${projectId}, 'vm', h.id, 'CREATE', 'SUCCEEDED', '{}', '{}', at, at, at
    from unnest(${ids}::uuid[]) with ordinality h (id, age), lateral (select now() - h.age * interval '1 hour' - interval '2 days' as at) t`;
  await sql`insert into audit_logs (id, at, actor_type, actor, action, resource_type, resource_id, source_ip, request_id, status)
    select id, now(), 'user', '', '', '', '', '', id, 200 from unnest(${ids}::uuid[]) h (id)`;
  await sql`insert into closed_days (date) select d::date
    from generate_series(${dateOf(2_000)}::text::date, ${dateOf(3)}::text::date, interval '1 day') d`;
  await sql`insert into meter_intervals (id, organization_id, project_id, resource_id, resource_type, billable_metric, units, region,
      started_at, ended_at)
    select h.id, ${organizationId}, ${projectId}, h.id, 'a40.1x', 'vm_seconds', 1, 'eu-north', at, at + interval '30 minutes'
    from unnest(${ids}::uuid[]) with ordinality h (id, age),
      lateral (select ${dateOf(2)}::text::timestamptz - h.age * interval '1 hour' as at) t`;
  await sql`delete from late_usage`;
}

/** Runs it until plans are kept, and returns the most that one execution read. */
async function measure(run: () => Promise<unknown>, executions = EXECUTIONS) {
  const reads: Pick<Plan, 'rowsRead' | 'pages' | 'scanned'>[] = [];
  for (let execution = 0; execution < executions; execution += 1) {
    watch.plans.length = 0;
    await run();
    reads.push({
      rowsRead: watch.plans.reduce((sum, plan) => sum + plan.rowsRead, 0),
      pages: watch.plans.reduce((sum, plan) => sum + plan.pages, 0),
      scanned: watch.plans.flatMap(({ scanned }) => scanned),
    });
  }
  return {
    rowsRead: Math.max(...reads.map(({ rowsRead }) => rowsRead)),
    pages: Math.max(...reads.map(({ pages }) => pages)),
    scanned: new Set(reads.flatMap(({ scanned }) => scanned)),
  };
}

describe('a list of operations', () => {
  const list = (filter: object) => () =>
    listOperations(watch.sql, {
      ...{
        projectId,
        resourceType: 'vm',
        resourceId: null,
        state: null,
        before: null,
        limit: PAGE,
      },
      ...filter,
    });

  it.each([
    ['of every state', {}, 5 * PAGE],
    ['that succeeded', { state: 'SUCCEEDED' }, 3 * PAGE],
    ['that are unfinished, of which there are none', { state: 'IN_PROGRESS' }, 10],
    ['that failed, of which there are none', { state: 'FAILED' }, 10],
    ['of one resource', { resourceId: newId() }, 10],
  ])('%s reads a page, whatever the history', async (_, filter, most) => {
    const { rowsRead, scanned } = await measure(list(filter));
    expect(rowsRead).toBeLessThanOrEqual(most);
    expect(scanned).not.toContain('operations');
  });
});

describe('a list of VMs in a project of 10,000', () => {
  const none = { ids: null, names: null, types: null, locations: null, states: null };
  const list = (filter: object) => () =>
    listVms(watch.sql, { ...none, tags: [], after: null, projectId, limit: PAGE, ...filter });
  // For each VM: its row twice, a disk, its attachment, an interface and its addresses.
  const PER_VM = 8;
  // The types with nested virtualization are read once for all VMs.
  const ONCE = CATALOGUE.length;

  it.each([
    ['of every state', () => ({}), PAGE * PER_VM],
    ['of the middle', () => ({ after: vmIds[VMS / 2] }), PAGE * PER_VM],
    ['newest first', () => ({ newestFirst: true }), PAGE * PER_VM],
    ['that run', () => ({ states: ['STATE_RUNNING'] }), PAGE * PER_VM],
    ['by name', () => ({ byName: true }), PAGE * PER_VM],
    [
      'by name, from the middle and backwards',
      () => ({
        ...{ byName: true, newestFirst: true, after: vmIds[VMS / 2] },
        afterName: `vm-${vmIds[VMS / 2]}`,
      }),
      PAGE * PER_VM,
    ],
    [
      'that run, newest first',
      () => ({ states: ['STATE_RUNNING'], newestFirst: true, after: vmIds[VMS / 2] }),
      PAGE * PER_VM,
    ],
    [
      'that crashed, of which there is one',
      () => ({ states: ['STATE_CRASHED', 'STATE_ERROR'] }),
      2 * PER_VM,
    ],
    ['with a name', () => ({ names: [`vm-${vmIds[7]}`] }), 2 * PER_VM],
    ['with a rare tag', () => ({ tags: [{ rare: 'yes' }] }), 2 * PER_VM],
    ['with an id', () => ({ ids: [vmIds[7] ?? ''] }), 2 * PER_VM],
  ])('%s reads a page', async (_, filter, most) => {
    const { rowsRead, scanned } = await measure(list(filter()));
    expect(rowsRead).toBeLessThanOrEqual(most + ONCE);
    for (const table of ['vms', 'disks', 'disk_attachments', 'network_interfaces'])
      expect(scanned).not.toContain(table);
  });
});

describe('a list of all tenants', () => {
  const anyVm = {
    hostId: null,
    ids: null,
    names: null,
    types: null,
    locations: null,
    states: null,
  };
  const anyOperation = { ids: null, resourceType: null, resourceId: null, name: null, state: null };
  const all = { organizationId: null, projectId: null, after: null, before: null, limit: PAGE };
  const vms = (filter: object) => () =>
    listAllVms(watch.sql, { ...all, ...anyVm, tags: [], ...filter });
  const disks = (filter: object) => () => listAllDisks(watch.sql, { ...all, ...anyVm, ...filter });
  const operations = (filter: object) => () =>
    listAllOperations(watch.sql, { ...all, ...anyOperation, ...filter });
  // For each row: itself twice, its project, and what belongs to a VM.
  const MOST = PAGE * 12;
  const FEW = 2 * 12 + CATALOGUE.length;

  it.each([
    ['VMs', vms, () => ({}), MOST],
    ['VMs from the middle', vms, () => ({ after: vmIds[VMS / 2] }), MOST],
    ['VMs, newest first', vms, () => ({ newestFirst: true }), MOST],
    ['VMs of a project that run', vms, () => ({ projectId, states: ['STATE_RUNNING'] }), MOST],
    ['VMs of an organization', vms, () => ({ organizationId }), MOST],
    ['VMs that crashed', vms, () => ({ states: ['STATE_CRASHED', 'STATE_ERROR'] }), FEW],
    ['VMs with a name', vms, () => ({ names: [`vm-${vmIds[7]}`] }), FEW],
    ['VMs of a host', vms, () => ({ hostId: newId() }), FEW],
    ['disks', disks, () => ({}), MOST],
    ['disks, newest first', disks, () => ({ newestFirst: true }), MOST],
    ['disks that are ready, of which there are none', disks, () => ({ states: ['ready'] }), FEW],
    ['disks with a name', disks, () => ({ names: ['none'] }), FEW],
    ['disks of a host', disks, () => ({ hostId: newId() }), FEW],
    ['operations', operations, () => ({}), MOST],
    ['operations of a project', operations, () => ({ projectId }), MOST],
    ['operations that failed', operations, () => ({ state: 'FAILED' }), FEW],
    ['operations of a resource', operations, () => ({ resourceId: vmIds[7] }), FEW],
  ])('of %s reads a page', async (_, list, filter, most) => {
    const { rowsRead, scanned } = await measure(list(filter()));
    expect(rowsRead).toBeLessThanOrEqual(most);
    for (const table of ['vms', 'disks', 'operations']) expect(scanned).not.toContain(table);
  });

  it('of failed operations is counted without reading the others', async () => {
    const { rowsRead } = await measure(() => countFailedOperations(watch.sql));
    expect(rowsRead).toBeLessThanOrEqual(10);
  });
});

describe('the cost of a VM', () => {
  it('reads the intervals of the VM and its OS disk, whatever the history', async () => {
    const vmId = vmIds[3] ?? '';
    const { rowsRead, scanned } = await measure(() => readVmUsage(watch.sql, { projectId, vmId }));
    expect(rowsRead).toBeLessThanOrEqual(20);
    expect(scanned).not.toContain('meter_intervals');
  });
});

describe('settling a VM', () => {
  it('reads its own rows, whatever the history', async () => {
    const [vmId = ''] = vmIds;
    const metered = { metric: 'vm_seconds', vmType: 'a40.1x' } as const;
    const { rowsRead, scanned } = await measure(async () => {
      await readUnfinishedOperation(watch.sql, vmId);
      await openInterval(watch.sql, {
        ...{ organizationId, projectId, resourceId: vmId, region: 'eu-north', metered },
      });
      await closeInterval(watch.sql, { resourceId: vmId });
      await succeedVmOperation(watch.sql, { id: vmId, project_id: projectId });
    });
    expect(rowsRead).toBeLessThanOrEqual(40);
    for (const table of ['operations', 'meter_intervals']) expect(scanned).not.toContain(table);
  });
});

describe('usage', () => {
  // 24 intervals a day; a close compares the day before too, and reads what ended since.
  const PER_DAY = 24;

  it('of a day is closed by reading the last days, whatever the history', async () => {
    expect(await closeDueDays(watch.sql, new Date(today - 2 * 86_400_000))).toEqual([]);
    const { rowsRead, scanned } = await measure(async () => {
      await watch.sql`begin`;
      await closeDay(watch.sql, dateOf(2)).finally(() => watch.sql`rollback`);
    }, 1);
    expect(rowsRead).toBeLessThanOrEqual(12 * PER_DAY);
    expect(scanned).not.toContain('meter_intervals');
  });

  it('that is due is found without reading intervals', async () => {
    const { rowsRead } = await measure(() =>
      closeDueDays(watch.sql, new Date(today - 2 * 86_400_000)),
    );
    expect(rowsRead).toBeLessThanOrEqual(10);
  });

  it('of one organization is adjusted and looked for by reading what ended since', async () => {
    const { scanned, rowsRead } = await measure(async () => {
      await insertAdjustments(watch.sql, { date: dateOf(3), organizationId });
      await hasUnbilledUsage(watch.sql, organizationId);
    }, 1);
    expect(rowsRead).toBeLessThanOrEqual(12 * PER_DAY);
    expect(scanned).not.toContain('meter_intervals');
  });
});

describe('the clean-up', () => {
  it('of a batch reads what it removes, whatever is left', async () => {
    const batch = { limit: 20, after: null, days: 400 };
    const { rowsRead, scanned } = await measure(async () => {
      await removeOldOperations(watch.sql, batch);
      await removeOldAuditLogs(watch.sql, batch);
      await removeOldIntervals(watch.sql, batch);
    });
    // Each row is found, locked, looked up and removed; an operation is looked for in four tables.
    expect(rowsRead).toBeLessThanOrEqual(20 * 3 * 6);
    for (const table of ['operations', 'audit_logs', 'meter_intervals'])
      expect(scanned).not.toContain(table);
  });
});
