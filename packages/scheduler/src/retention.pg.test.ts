import { createLog } from '@gantry/daemon/log';
import { adjustClosedDays } from '@gantry/db/queries/usage/adjustments';
import {
  closeInterval,
  closeUnproven,
  openInterval,
  proveInterval,
} from '@gantry/db/queries/usage/meter';
import { closeDay } from '@gantry/db/queries/usage/usage';
import { newId } from '@gantry/model/ids';
import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { addHost } from '@gantry/testkit/make/hosts';
import { addProject } from '@gantry/testkit/make/tenants';
import { addVms } from '@gantry/testkit/make/vms';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cleanUp, DEFAULT_RETENTION } from './clean-up.ts';

let database: TestDatabase;
let projectId: string;
const log = createLog({ process: 'scheduler', level: 'silent' });
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

beforeEach(async () => {
  database = await createTestDatabase();
  projectId = await addProject(database.sql);
});
afterEach(() => database.drop());

const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS);
const clean = (options = {}) => cleanUp({ sql: database.sql, log, ...options });
const idsIn = async (table: string) =>
  (await database.sql<{ id: string }[]>`select id from ${database.sql(table)} order by id`).map(
    ({ id }) => id,
  );

describe('operations', () => {
  const insert = async (age: number, { resourceId = newId(), ended = true } = {}) => {
    const id = newId(daysAgo(age).getTime());
    await database.sql`insert into operations (id, project_id, resource_type, resource_id, name, state, request, started_at,
        completed_at, deadline_at)
      values (${id}, ${projectId}, 'vm', ${resourceId}, 'STOP', ${ended ? 'SUCCEEDED' : 'IN_PROGRESS'}, '{}', ${daysAgo(age)},
        ${ended ? daysAgo(age) : null}, ${daysAgo(age)})`;
    return id;
  };

  it('are removed 30 days after their end, in batches', async () => {
    const kept = [await insert(29), await insert(40, { ended: false })];
    for (let count = 0; count < 7; count += 1) await insert(31);
    await clean({ batchRows: 2 });
    expect(await idsIn('operations')).toEqual(kept.sort());
  });

  it('count from their end, not from their start', async () => {
    const id = await insert(31);
    await database.sql`update operations set completed_at = ${daysAgo(29)} where id = ${id}`;
    await clean();
    expect(await idsIn('operations')).toEqual([id]);
  });

  it('stay if they are the last one of a resource that exists', async () => {
    const [vmId = ''] = await addVms(database.sql, 1, { projectId });
    const [creation = ''] = await idsIn('operations');
    await database.sql`delete from operations`;
    await insert(50, { resourceId: vmId });
    const last = await insert(40, { resourceId: vmId });
    // More rows that stay than fit into a batch do not keep later rows from being removed.
    const [other = ''] = await addVms(database.sql, 1, { projectId });
    await database.sql`delete from operations where resource_id = ${other}`;
    const otherLast = await insert(45, { resourceId: other });
    await insert(35);
    await clean({ batchRows: 1 });
    expect(creation).not.toBe('');
    expect(await idsIn('operations')).toEqual([otherLast, last]);
  });

  it('are kept as long as the setting says', async () => {
    await insert(50);
    await clean({ retention: { ...DEFAULT_RETENTION, operations: 60 } });
    expect(await idsIn('operations')).toHaveLength(1);
    await clean({ retention: { ...DEFAULT_RETENTION, operations: 40 } });
    expect(await idsIn('operations')).toEqual([]);
  });
});

it('events are removed after 90 days and lines of the audit log after 400', async () => {
  const { sql } = database;
  const event = async (age: number) => {
    const id = newId(daysAgo(age).getTime());
    await sql`insert into events (id, project_id, resource_type, resource_id, type, message)
      values (${id}, ${projectId}, 'vm', ${newId()}, 'vm_lost', '')`;
    return id;
  };
  const line = async (age: number) => {
    const id = newId(daysAgo(age).getTime());
    await sql`insert into audit_logs (id, at, actor_type, actor, action, resource_type, resource_id, source_ip, request_id, status)
      values (${id}, ${daysAgo(age)}, 'user', '', '', '', '', '', ${newId()}, 200)`;
    return id;
  };
  const kept = { events: await event(89), lines: await line(399) };
  for (let count = 0; count < 5; count += 1) await Promise.all([event(91), line(401)]);
  await clean({ batchRows: 2 });
  expect(await idsIn('events')).toEqual([kept.events]);
  expect(await idsIn('audit_logs')).toEqual([kept.lines]);
});

it('stream events are removed after a day from the first on, and streams cannot continue before', async () => {
  const { sql } = database;
  await sql`delete from stream_events`;
  const event = async (age: number) => {
    const [row] = await sql<
      { xid: string }[]
    >`insert into stream_events (project_id, type, data, created_at)
      values (${projectId}, 'vm', '{}', ${daysAgo(age)}) returning xid::text`;
    return row?.xid ?? '';
  };
  const read = async () => {
    const [row] = await sql<{ since: string; xids: string[] }[]>`select stream_since::text as since,
      array(select xid::text from stream_events order by xid, number) as xids from installation`;
    return row;
  };
  for (let count = 0; count < 5; count += 1) await event(1.1);
  const young = await event(0.9);
  // It is kept although it is old: if a later event went first, a stream could not tell what it missed.
  const late = await event(2);
  await clean({ batchRows: 2 });
  expect(await read()).toEqual({ since: young, xids: [young, late] });
  await clean({ retention: { ...DEFAULT_RETENTION, streamEvents: 3 } });
  expect(await read()).toEqual({ since: young, xids: [young, late] });
  await sql`update stream_events set created_at = ${daysAgo(3)}`;
  await clean();
  expect(await read()).toEqual({ since: String(BigInt(late) + 1n), xids: [] });
});

it('deliveries of webhooks are removed after 7 days, but those that an enabled webhook still has to send stay', async () => {
  const { sql } = database;
  const webhook = async (disabled: string) => {
    const id = newId();
    await sql`insert into webhooks (id, project_id, name, url, event_types, description, sealed_secret, disabled_at, disabled_reason)
      values (${id}, ${projectId}, ${id}, '', '{}', '', '', ${disabled ? daysAgo(1) : null}, ${disabled})`;
    return id;
  };
  const [enabled, disabled] = [await webhook(''), await webhook('gone')];
  const delivery = async (age: number, webhookId: string, state: string) => {
    const id = newId(daysAgo(age).getTime());
    await sql`insert into webhook_deliveries (id, webhook_id, event_id, event_type, resource_id, body, state, give_up_at)
      values (${id}, ${webhookId}, '', 'vm', ${id}, '', ${state}, now())`;
    return id;
  };
  const kept = [await delivery(8, enabled, 'pending'), await delivery(6, disabled, 'pending')];
  kept.push(await delivery(6, enabled, 'delivered'));
  for (let count = 0; count < 3; count += 1) {
    await delivery(8, enabled, 'delivered');
    await delivery(8, enabled, 'failed');
    await delivery(8, disabled, 'pending');
  }
  await clean({ batchRows: 2 });
  expect(await idsIn('webhook_deliveries')).toEqual(kept.sort());
});

it('receipts are removed after 400 days, but the last one of a device and of a serial number stays', async () => {
  const { sql } = database;
  const [first, second] = [newId(), newId()];
  const receipt = async (age: number, deviceId: string, serial: string) => {
    const id = newId(daysAgo(age).getTime());
    await sql`insert into device_receipts (id, device_id, kind, host_id, pci_address, serial, vm_id, project_id, method, finished_at)
      values (${id}, ${deviceId}, 'drive', ${newId()}, '', ${serial}, ${newId()}, ${projectId}, 'sanitize', ${daysAgo(age)})`;
    return id;
  };
  await receipt(600, first, 'S1');
  const lastOfFirst = await receipt(500, first, 'S1');
  // The drive S2 was in the slot of the second device before S3 was.
  const lastOfS2 = await receipt(500, second, 'S2');
  const lastOfS3 = await receipt(450, second, 'S3');
  const [gpu] = [newId()];
  await receipt(450, gpu, '');
  const lastOfGpu = await receipt(10, gpu, '');
  await clean({ batchRows: 1 });
  expect(await idsIn('device_receipts')).toEqual(
    [lastOfFirst, lastOfS2, lastOfS3, lastOfGpu].sort(),
  );
});

it('readings of devices are removed after 90 days, but the last one of a device stays', async () => {
  const { sql } = database;
  const { gpuIds } = await addHost(sql, { name: 'with-readings' });
  const [changing = '', quiet = ''] = gpuIds;
  const reading = async (days: number, deviceId: string) =>
    await sql`insert into device_readings (device_id, hour, at, measured)
      values (${deviceId}, ${daysAgo(days)}, ${daysAgo(days)}, ${JSON.stringify({ days })}::text::jsonb)`;
  for (const days of [300, 200, 100, 80, 1]) await reading(days, changing);
  for (const days of [300, 200]) await reading(days, quiet);
  await clean({ batchRows: 1 });
  const left =
    await sql`select device_id, measured->'days' as days from device_readings order by hour`;
  expect(left.map((row) => [row['device_id'], Number(row['days'])])).toEqual([
    [quiet, 200],
    [changing, 80],
    [changing, 1],
  ]);
});

describe('intervals', () => {
  const organizationId = newId();
  const midnight = (days: number) =>
    new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS - days * DAY_MS);
  const dateOf = (days: number) => midnight(days).toISOString().slice(0, 10);
  const open = async (startedAt: Date) => {
    const resourceId = newId();
    await openInterval(database.sql, {
      ...{ organizationId, projectId, resourceId, region: 'eu-north', startedAt },
      metered: { metric: 'vm_seconds', vmType: 'a40.1x' },
    });
    return resourceId;
  };
  const use = async (days: number, hours = 1) => {
    const resourceId = await open(midnight(days));
    const endedAt = new Date(midnight(days).getTime() + hours * HOUR_MS);
    await closeInterval(database.sql, { resourceId, endedAt });
    return resourceId;
  };
  const close = async (...days: number[]) => {
    for (const day of days) await closeDay(database.sql, dateOf(day));
    await adjustClosedDays(database.sql);
  };
  const metered = async () =>
    (
      await database.sql<
        { resource_id: string }[]
      >`select resource_id from meter_intervals order by id`
    ).map(({ resource_id }) => resource_id);
  const counts = async () => {
    const [row] = await database.sql`select (select count(*)::int from usage_days) as days,
      (select count(*)::int from usage_adjustments) as adjustments`;
    return row;
  };

  it('are removed after 400 days, and the usage of their days stays as it was charged', async () => {
    await use(405);
    const young = await use(300);
    await close(405, 300, 299);
    const charged = await database.sql`select * from usage_days order by date`;
    expect(charged).toHaveLength(2);
    await clean({ batchRows: 1 });
    expect(await metered()).toEqual([young]);
    expect(await database.sql`select * from usage_days order by date`).toEqual(charged);
  });

  it('are not removed before their day is closed', async () => {
    const early = await use(405);
    await clean();
    expect(await metered()).toEqual([early]);
    // The next close compares the last closed day once more.
    await close(405);
    await clean();
    expect(await metered()).toEqual([early]);
    await close(404);
    await clean();
    expect(await metered()).toEqual([]);
    await close(403, 402);
    expect(await counts()).toEqual({ days: 1, adjustments: 0 });
  });

  it('are not removed while late usage of their day waits for its adjustment', async () => {
    await use(405);
    await closeDay(database.sql, dateOf(405));
    await closeDay(database.sql, dateOf(300));
    await use(405, 2);
    await clean();
    expect(await metered()).toHaveLength(2);
    await adjustClosedDays(database.sql);
    expect(await counts()).toEqual({ days: 1, adjustments: 1 });
    await clean();
    expect(await metered()).toEqual([]);
  });

  it('stay while they are open or may be proven, and late proof refunds nothing of a removed day', async () => {
    const running = await open(midnight(500));
    const silent = await open(midnight(500));
    await closeUnproven(database.sql, {
      ...{ resourceId: silent, provenUntil: midnight(450), now: midnight(420) },
    });
    await use(430);
    await close(430, 300);
    const before = await counts();
    await clean();
    expect((await metered()).sort()).toEqual([running, silent].sort());
    await proveInterval(database.sql, silent);
    expect(await adjustClosedDays(database.sql)).toEqual([]);
    expect(await counts()).toEqual(before);
  });
});

it('what the payment provider was told is removed after 400 days, and what it was not told stays', async () => {
  const { sql } = database;
  const insert = async (sent: Date | null) => {
    const id = newId();
    await sql`insert into payment_outbox (id, organization_id, kind, date, resource_type, billable_metric, quantity, cost_usd,
        created_at, sent_at)
      values (${id}, ${newId()}, 'usage', '2020-01-01', 'a40.1x', 'vm_seconds', 1, 1, ${daysAgo(500)}, ${sent})`;
    return id;
  };
  await insert(daysAgo(401));
  const kept = [await insert(daysAgo(399)), await insert(null)];
  await clean();
  expect(await idsIn('payment_outbox')).toEqual(kept.sort());
});
