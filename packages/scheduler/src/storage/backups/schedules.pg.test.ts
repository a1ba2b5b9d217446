import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readBackupFigures } from '@gantry/db/queries/backups/backup-schedules';
import { badField, refusal } from '@gantry/testkit/api/read-errors';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { LOCATION, makeStorageWorld, type StorageWorld } from '../testing/storage-world.ts';
import { runSchedules } from './run-schedules.ts';

let world: StorageWorld;
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'gantry-schedules-'));
  world = await makeStorageWorld({ backupDirectory: directory });
});
afterAll(async () => {
  await world?.api.stop();
  await rm(directory, { recursive: true, force: true });
});

type Shown = { id: string; state: string; parent_id: string; scheduled: boolean; disk_id: string };
const at = (diskId: string) => `/disks/${diskId}/backup-schedule`;
const set = (diskId: string, every_hours: number, keep: number) =>
  world.call('PUT', at(diskId), { every_hours, keep });
const backupsOf = async (diskId: string): Promise<Shown[]> => {
  const { body } = await world.call('GET', '/backups?limit=1000');
  return body.items.filter((each: Shown) => each.disk_id === diskId);
};
const look = () => runSchedules({ sql: world.api.sql, log: world.log }, world.lease);
/** Lets so many hours pass for the schedule of a disk, and does everything that is due then. */
async function pass(diskId: string, hours: number): Promise<void> {
  const { sql } = world.api;
  await sql`update backup_schedules set next_at = next_at - make_interval(hours => ${hours}) where disk_id = ${diskId}`;
  await look();
  await world.carryOut();
}
/** Removes what is not kept, one layer of changes after the other. */
async function prune(): Promise<void> {
  for (let layer = 0; layer < 10; layer++) {
    await look();
    await world.carryOut();
  }
}
async function contentFrom(backupId: string): Promise<string> {
  const name = `restored-${backupId.slice(-12)}`;
  const body = { name, size: '10GiB', location: LOCATION, backup_id: backupId };
  const { id, resourceId } = await world.begin('POST', '/disks', body);
  await world.carryOut();
  expect((await world.operation(id)).state).toBe('SUCCEEDED');
  return world.contentOf(resourceId);
}

it('a schedule is set, read, changed and deleted, and its backups stay', async () => {
  const diskId = await world.makeDisk('x');
  expect(refusal(await world.call('GET', at(diskId)))).toEqual([404, 'not_found']);
  const { body } = await set(diskId, 6, 3);
  expect(body).toMatchObject({ disk_id: diskId, every_hours: 6, keep: 3, last_backup_at: '' });
  await pass(diskId, 0);
  expect((await world.call('GET', at(diskId))).body.last_backup_at).not.toBe('');
  expect((await set(diskId, 24, 1)).body).toMatchObject({ every_hours: 24, keep: 1 });
  for (const [field, value] of [
    ['every_hours', 0],
    ['every_hours', 1.5],
    ['keep', 1001],
  ] as const) {
    const wrong = { every_hours: 1, keep: 1, [field]: value };
    expect(badField(await world.call('PUT', at(diskId), wrong))).toEqual([400, field]);
  }
  expect((await world.call('DELETE', at(diskId))).status).toBe(200);
  expect((await world.call('GET', at(diskId))).status).toBe(404);
  expect(await backupsOf(diskId)).toHaveLength(1);
});

it('a scheduled backup that is never made fails after a day, so that the disk can be changed and backed up again', async () => {
  const { sql } = world.api;
  const diskId = await world.makeDisk('x');
  await set(diskId, 6, 3);
  world.cluster.setNetwork('down');
  await pass(diskId, 0);
  const age = (time: string) =>
    sql`update backups set created_at = now() - ${time}::interval where disk_id = ${diskId}`;
  const states = async () => (await backupsOf(diskId)).map(({ state }) => state);
  await age('24 hours');
  await look();
  expect(await states()).toEqual(['creating']);
  const grown = await world.call('PATCH', `/disks/${diskId}`, { size: '20GiB' });
  expect(refusal(grown)).toEqual([409, 'operation_in_progress']);
  // A day, and 20 s for each of its 10 GiB.
  await age('24 hours 201 seconds');
  await look();
  expect(await states()).toEqual(['failed']);
  world.cluster.setNetwork('up');
  await pass(diskId, 6);
  expect(await states()).toEqual(['failed', 'ready']);
  expect((await world.call('PATCH', `/disks/${diskId}`, { size: '20GiB' })).status).toBe(200);
});

it('a disk of a host or of others has no schedule', async () => {
  const diskId = await world.makeDisk('x');
  const { projectId, accessKey } = world.stranger;
  const foreign = `/projects/${projectId}${at(diskId)}`;
  const body = { every_hours: 1, keep: 1 };
  expect(refusal(await world.call('PUT', foreign, body, accessKey))).toEqual([404, 'not_found']);
  await world.api.sql`update disks set pool_id = null where id = ${diskId}`;
  expect(refusal(await set(diskId, 1, 1))).toEqual([409, 'conflict']);
});

it('a backup is made at every interval, once, also after a long pause', async () => {
  const diskId = await world.makeDisk('x');
  await set(diskId, 6, 100);
  await pass(diskId, 0);
  await look();
  await world.carryOut();
  expect(await backupsOf(diskId)).toHaveLength(1);
  await pass(diskId, 6);
  expect(await backupsOf(diskId)).toHaveLength(2);
  await pass(diskId, 100);
  await pass(diskId, 0);
  const made = await backupsOf(diskId);
  expect(made.map(({ state, scheduled }) => [state, scheduled])).toEqual(
    Array.from({ length: 3 }, () => ['ready', true]),
  );
  const { body } = await world.call('GET', at(diskId));
  const hours = (new Date(body.next_at).getTime() - Date.now()) / 3_600_000;
  expect(hours).toBeGreaterThan(0);
  expect(hours).toBeLessThanOrEqual(6);
});

it('only the newest are kept, with what they are based on, and each of them can be restored', async () => {
  const diskId = await world.makeDisk('0');
  await set(diskId, 1, 2);
  const made: string[] = [];
  for (let n = 0; n < 10; n++) {
    world.write(diskId, String(n));
    await pass(diskId, 1);
    made.push((await backupsOf(diskId)).at(-1)?.id ?? '');
    await prune();
    for (const { id } of await backupsOf(diskId)) {
      const [row] = await world.api.sql`select parent_id from backups where id = ${id}`;
      const parent = row?.['parent_id'];
      const there = (await backupsOf(diskId)).map((each) => each.id);
      if (parent !== null) expect(there).toContain(parent);
    }
  }
  // The first seven are a chain. The eighth has the whole content, so the chain is gone when nothing kept needs it.
  const left = (await backupsOf(diskId)).map(({ id }) => id);
  expect(left).toEqual(made.slice(7));
  expect(await contentFrom(made.at(-1) ?? '')).toBe('9');
  expect(await contentFrom(made.at(-2) ?? '')).toBe('8');
});

it('backups that were asked for are not pruned', async () => {
  const diskId = await world.makeDisk('x');
  const wanted = { name: 'keep-me', disk_id: diskId, full: true };
  const { resourceId } = await world.begin('POST', '/backups', wanted);
  await world.carryOut();
  await set(diskId, 1, 1);
  await pass(diskId, 0);
  await pass(diskId, 1);
  await prune();
  expect((await backupsOf(diskId)).map(({ id }) => id)).toContain(resourceId);
});

it('a quota postpones a scheduled backup, and the figures show that it is overdue', async () => {
  const { sql } = world.api;
  const diskId = await world.makeDisk('x');
  await set(diskId, 1, 1);
  const { projectId } = world.tenant;
  await sql`update quotas set max = used where project_id = ${projectId} and type = 'backups'`;
  await pass(diskId, 0);
  expect(await backupsOf(diskId)).toEqual([]);
  const figures = async () =>
    (await readBackupFigures(sql)).find(({ location }) => location === LOCATION);
  const before = await figures();
  await sql`update backup_schedules set created_at = now() - interval '4 hours' where disk_id = ${diskId}`;
  const after = await figures();
  expect(after?.overdue_disks).toBe((before?.overdue_disks ?? 0) + 1);
  expect(after?.oldest_seconds).toBeGreaterThan(4 * 3600 - 60);
  await sql`update quotas set max = 1000 where project_id = ${projectId} and type = 'backups'`;
  await pass(diskId, 1);
  expect(await backupsOf(diskId)).toHaveLength(1);
  expect((await figures())?.overdue_disks).toBe(before?.overdue_disks ?? 0);
});
