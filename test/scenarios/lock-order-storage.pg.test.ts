import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { connect, type Sql } from '@gantry/db/connect';
import {
  insertScheduledBackup,
  listPrunableBackups,
  pruneBackup,
} from '@gantry/db/queries/backups/backup-schedules';
import { newId } from '@gantry/model/ids';
import { cleanUp } from '@gantry/scheduler/clean-up';
import { placePending } from '@gantry/scheduler/place/place-pending';
import { endOverdueOperations } from '@gantry/scheduler/settle/end-overdue';
import { settleWithoutHost } from '@gantry/scheduler/settle/settle-without-host';
import { type TenantCalls, tenantCalls } from '@gantry/testkit/cloud/tenant-calls';
import {
  concurrentWriters,
  countDeadlocks,
  pick,
} from '@gantry/testkit/database/concurrent-writers';
import type { HandDrivenHost } from '@gantry/testkit/hosts/hand-driven-host';
import { LOCATION, newName, vmBody } from '@gantry/testkit/make/request-bodies';
import { makeTenant } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type PoolCloud, startPoolCloud } from './storage/pool-cloud.ts';

/** In each round, every kind of request about volumes is sent once, all at the same time. */
const ROUNDS = 12;
const HOSTS = 3;
/** Rounds go on until each of these requests was accepted at least once. */
const ACCEPTED = [
  ...['snapshot', 'deleteSnapshot', 'restore', 'backup', 'deleteBackup', 'schedule', 'image'],
  ...['diskFromSnapshot', 'diskFromBackup', 'growDisk', 'attach', 'power', 'deleteVm', 'move'],
];
/** More would mean that a request is never accepted. */
const MOST_ROUNDS = 200;

let cloud: PoolCloud;
let elsewhere: Sql;
let watcher: Sql;
let backups: string;
beforeAll(async () => {
  backups = await mkdtemp(join(tmpdir(), 'gantry-backups-'));
  cloud = await startPoolCloud();
  elsewhere = connect({ url: cloud.api.databaseUrl, name: 'elsewhere', maxConnections: 6 });
  watcher = connect({ url: cloud.api.databaseUrl, name: 'watcher', maxConnections: 1 });
});
afterAll(async () => {
  await elsewhere?.end({ timeout: 5 });
  await watcher?.end({ timeout: 5 });
  await cloud?.stop();
  await rm(backups, { recursive: true, force: true });
});

it('all writers of volumes work against each other without a deadlock', async () => {
  const { sql, log, api } = cloud;
  const tenants: TenantCalls[] = [];
  for (const tenant of [cloud.tenant, await makeTenant(api, 'bolt')])
    tenants.push(tenantCalls(api, tenant));
  await sql`update quotas set max = 100000`;
  await sql`update organization_quotas set max = 100000`;
  const hosts: HandDrivenHost[] = [];
  for (let n = 0; n < HOSTS; n += 1) hosts.push(await cloud.addStorageHost());
  cloud.startVolumes({ backupDirectory: backups });

  const writers = concurrentWriters();
  const { problems, accepted, refused, reply } = writers;
  const one = async (
    { call }: TenantCalls,
    path: string,
    isWanted = (_: { state: string }) => true,
  ) => {
    const items: { id: string; state: string; size: string }[] = (await call('GET', path)).body
      .items;
    return pick(items.filter(isWanted));
  };
  const isReady = ({ state }: { state: string }) => state === 'ready';
  const admin = (name: string, path: string, body?: unknown) =>
    reply(name, api.call('POST', `/admin/${path}`, { bearer: cloud.operator, body }));
  const copy = (source: { size: string }) => ({
    ...{ name: newName(), location: LOCATION, block_size: 512, size: source.size },
  });

  const requests: Record<string, (tenant: TenantCalls) => Promise<unknown>> = {
    createVm: (tenant) =>
      reply('createVm', tenant.call('POST', '/vms', vmBody({ on_host_failure: 'restart' }))),
    deleteVm: async (tenant) =>
      reply('deleteVm', tenant.call('DELETE', `/vms/${(await one(tenant, '/vms'))?.id}`)),
    power: async (tenant) => {
      const action = pick(['STOP', 'START', 'STOP', 'START', 'RESET']);
      return reply(
        'power',
        tenant.call('PATCH', `/vms/${(await one(tenant, '/vms'))?.id}`, { action }),
      );
    },
    createDisk: (tenant) =>
      reply(
        'createDisk',
        tenant.call('POST', '/disks', { ...copy({ size: '10GiB' }), type: 'persistent-ssd' }),
      ),
    deleteDisk: async (tenant) =>
      reply('deleteDisk', tenant.call('DELETE', `/disks/${(await one(tenant, '/disks'))?.id}`)),
    growDisk: async (tenant) => {
      const disk = await one(tenant, '/disks', isReady);
      const size = `${Number.parseInt(disk?.size ?? '0', 10) + 1}GiB`;
      return reply('growDisk', tenant.call('PATCH', `/disks/${disk?.id}`, { size }));
    },
    attach: async (tenant) => {
      const disk = await one(tenant, '/disks', isReady);
      const body = {
        attach_disks: [{ disk_id: disk?.id, mode: 'read-write', attachment_type: 'data' }],
      };
      return reply(
        'attach',
        tenant.call('POST', `/vms/${(await one(tenant, '/vms'))?.id}/attach-disks`, body),
      );
    },
    detach: async (tenant) => {
      const body = { detach_disks: [(await one(tenant, '/disks'))?.id] };
      return reply(
        'detach',
        tenant.call('POST', `/vms/${(await one(tenant, '/vms'))?.id}/detach-disks`, body),
      );
    },
    snapshot: async (tenant) => {
      const disk = await one(tenant, '/disks', isReady);
      const body = { name: newName(), disk_id: disk?.id, freeze: pick([true, false, false]) };
      return reply('snapshot', tenant.call('POST', '/snapshots', body));
    },
    deleteSnapshot: async (tenant) =>
      reply(
        'deleteSnapshot',
        tenant.call('DELETE', `/snapshots/${(await one(tenant, '/snapshots'))?.id}`),
      ),
    restore: async (tenant) => {
      const snapshot = await one(tenant, '/snapshots', isReady);
      return reply('restore', tenant.call('POST', `/snapshots/${snapshot?.id}:restore`));
    },
    diskFromSnapshot: async (tenant) => {
      const from = await one(tenant, '/snapshots', isReady);
      if (from)
        await reply(
          'diskFromSnapshot',
          tenant.call('POST', '/disks', { ...copy(from), snapshot_id: from.id }),
        );
    },
    backup: async (tenant) => {
      const disk = await one(tenant, '/disks', isReady);
      return reply(
        'backup',
        tenant.call('POST', '/backups', { name: newName(), disk_id: disk?.id }),
      );
    },
    deleteBackup: async (tenant) =>
      reply(
        'deleteBackup',
        tenant.call('DELETE', `/backups/${(await one(tenant, '/backups'))?.id}`),
      ),
    diskFromBackup: async (tenant) => {
      const from = await one(tenant, '/backups', isReady);
      if (from)
        await reply(
          'diskFromBackup',
          tenant.call('POST', '/disks', { ...copy(from), backup_id: from.id }),
        );
    },
    schedule: async (tenant) => {
      const disk = await one(tenant, '/disks', isReady);
      const path = `/disks/${disk?.id}/backup-schedule`;
      await reply('schedule', tenant.call('PUT', path, { every_hours: 1, keep: 1 }));
      await sql`update backup_schedules set next_at = now() - interval '1 second' where disk_id = ${disk?.id ?? newId()}`;
    },
    image: async (tenant) => {
      const snapshot = await one(tenant, '/snapshots', isReady);
      const body = { name: newName(), snapshot_id: snapshot?.id, visibility: 'organization' };
      return reply('image', tenant.call('POST', '/images', body));
    },
    deleteImage: async (tenant) => {
      const [row] =
        await sql`select id from custom_images where desired_state = 'present' order by random() limit 1`;
      return reply('deleteImage', tenant.call('DELETE', `/images/${row?.['id']}`));
    },
    vmOfImage: async (tenant) => {
      const [row] =
        await sql`select id from custom_images where state = 'ready' order by random() limit 1`;
      if (row) await reply('vmOfImage', tenant.call('POST', '/vms', vmBody({ image: row['id'] })));
    },
  };
  const operatorRequests: (() => Promise<unknown>)[] = [
    async () => {
      const running = await sql`select id from vms where placed order by random() limit 3`;
      for (const { id } of running) await admin('move', `vms/${id}:move`, {});
    },
    () =>
      reply(
        'limits',
        api.call('PUT', '/admin/storage/disk-limits/persistent-ssd', {
          bearer: cloud.operator,
          body: { total_iops: 1000 + Math.floor(Math.random() * 1000) },
        }),
      ),
    () => endOverdueOperations({ sql: elsewhere, log }),
    () => cleanUp({ sql: elsewhere, log, maxBatches: 1 }),
    async () => {
      await sql`update operations set deadline_at = now() where id in (
        select id from operations where state = 'IN_PROGRESS' order by random() limit 1)`;
      await endOverdueOperations({ sql, log });
    },
  ];
  /** What schedulers do beside the volume controller, until the last request is answered. */
  const loops: (() => Promise<unknown>)[] = [
    ...hosts.map((host) => () => host.obey()),
    () => placePending(cloud.placer),
    () => settleWithoutHost(sql),
    () => settleWithoutHost(elsewhere),
    async () => {
      const due = await elsewhere<{ id: string }[]>`
        select disk_id as id from backup_schedules where next_at < now() order by random() limit 1`;
      for (const { id } of due)
        await elsewhere.begin((tx) =>
          insertScheduledBackup(tx, { diskId: id, id: newId(), name: newName() }),
        );
      for (const id of await listPrunableBackups(elsewhere, { location: LOCATION, limit: 5 }))
        await elsewhere.begin((tx) => pruneBackup(tx, id));
    },
  ];

  await sql`update schedulers set last_seen_at = now() + interval '1 hour'`;
  const working = loops.map(writers.repeat);
  const missing = () => ACCEPTED.filter((name) => !accepted.has(name));
  let round = 0;
  while ((round < ROUNDS || missing().length > 0) && round < MOST_ROUNDS && problems.length === 0) {
    round += 1;
    const all = Object.values(requests).flatMap((request) =>
      tenants.map((tenant) => () => request(tenant)),
    );
    await Promise.all([...all, ...operatorRequests].map(writers.guard));
  }
  writers.stop();
  await Promise.all(working);
  await cloud.stopVolumes();

  expect(problems, inspect(problems, { depth: 6 })).toEqual([]);
  expect(missing(), inspect({ accepted, refused, round })).toEqual([]);
  expect(await countDeadlocks(watcher)).toBe(0);
}, 300_000);
