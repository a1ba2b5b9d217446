import { inspect } from 'node:util';
import { connect, type Sql } from '@gantry/db/connect';
import {
  closeStreams,
  recordHeartbeat,
  removeScheduler,
} from '@gantry/db/queries/hosts/host-liveness';
import { forgetFailedBuilds, updateImpairments } from '@gantry/db/queries/hosts/host-trouble';
import { renewLeases } from '@gantry/db/queries/placement/leases';
import { adjustClosedDays } from '@gantry/db/queries/usage/adjustments';
import { closeDueDays } from '@gantry/db/queries/usage/usage';
import { cleanUp } from '@gantry/scheduler/clean-up';
import { markUnreachable } from '@gantry/scheduler/liveness/mark-unreachable';
import { placePending } from '@gantry/scheduler/place/place-pending';
import { endOverdueOperations } from '@gantry/scheduler/settle/end-overdue';
import { settleWithoutHost } from '@gantry/scheduler/settle/settle-without-host';
import { type Cloud, startCloud } from '@gantry/testkit/cloud/start-cloud';
import { type TenantCalls, tenantCalls } from '@gantry/testkit/cloud/tenant-calls';
import {
  concurrentWriters,
  countDeadlocks,
  pick,
} from '@gantry/testkit/database/concurrent-writers';
import { failure, type HandDrivenHost } from '@gantry/testkit/hosts/hand-driven-host';
import { holdLocation, makePlacer } from '@gantry/testkit/make/placers';
import { LOCATION, newName, ruleBody, vmBody } from '@gantry/testkit/make/request-bodies';
import { makeTenant } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, expect, it } from 'vitest';

/** In each round, every kind of writer works once, all at the same time. */
const ROUNDS = 12;
const HOSTS = 4;
/** Rounds go on until each of these requests was accepted at least once. */
const ACCEPTED = [
  ...['createVm', 'deleteVm', 'power', 'attach', 'growDisk', 'createRule', 'deleteRule'],
];
/** A transaction that waits for a lock for longer than this has lost to PostgreSQL's own limit. */
const STATEMENT_LIMIT_MS = 10_000;

let cloud: Cloud;
/** Another scheduler process. */
let elsewhere: Sql;
let watcher: Sql;
beforeAll(async () => {
  cloud = await startCloud();
  elsewhere = connect({ url: cloud.api.databaseUrl, name: 'elsewhere', maxConnections: 6 });
  watcher = connect({ url: cloud.api.databaseUrl, name: 'watcher', maxConnections: 1 });
});
afterAll(async () => {
  await elsewhere.end({ timeout: 5 });
  await watcher.end({ timeout: 5 });
  await cloud.stop();
});

const shuffled = <T>(from: readonly T[]): T[] => from.toSorted(() => Math.random() - 0.5);

type Tenant = TenantCalls & { network: string };
type Ids = { id: string }[];

async function addTenants(): Promise<Tenant[]> {
  const { api, sql } = cloud;
  const others = [await makeTenant(api, 'bolt'), await makeTenant(api, 'cord')];
  await sql`update quotas set max = 100000`;
  await sql`update organization_quotas set max = 100000`;
  const tenants: Tenant[] = [];
  for (const tenant of [cloud.tenant, ...others]) {
    const calls = tenantCalls(api, tenant);
    const network = (await calls.call('GET', '/vpc/networks')).body.items[0].id;
    tenants.push({ ...calls, network });
  }
  return tenants;
}

it('all writers work against each other without a deadlock', async () => {
  const { sql, log } = cloud;
  const tenants = await addTenants();
  const hosts: HandDrivenHost[] = [];
  for (let n = 1; n <= HOSTS; n += 1) {
    const underlayAddress = `192.0.2.${n}`;
    hosts.push(await cloud.addHandDrivenHost({ gpus: 16, sharedStorage: true, underlayAddress }));
  }
  const lease = await holdLocation(sql);
  const placer = makePlacer(sql, lease);
  // Every host has VMs of every tenant.
  for (const tenant of tenants) {
    for (const host of hosts) {
      const { id } = await tenant.createVm();
      await cloud.place(id, host);
      await tenant.requestDisk('shared-volume');
    }
  }
  await settleWithoutHost(sql);
  for (const host of hosts) await host.obey();

  const writers = concurrentWriters();
  const { problems, accepted, reply } = writers;
  const listed = async ({ call }: Tenant, path: string): Promise<Ids> =>
    (await call('GET', path)).body.items;
  const one = async (tenant: Tenant, path: string) => pick(await listed(tenant, path))?.id;
  const admin = (name: string, path: string, body?: unknown) =>
    reply(name, cloud.api.call('POST', `/admin/${path}`, { bearer: cloud.operator, body }));
  const grown = new Map<string, number>();

  const requests: Record<string, (tenant: Tenant) => Promise<unknown>> = {
    createVms: async () => {
      for (const tenant of shuffled(tenants))
        await reply('createVm', tenant.call('POST', '/vms', vmBody()));
    },
    deleteVms: async () => {
      for (const tenant of shuffled(tenants))
        await reply('deleteVm', tenant.call('DELETE', `/vms/${await one(tenant, '/vms')}`));
    },
    power: async (tenant) => {
      const action = pick(['STOP', 'START', 'RESET']);
      return reply('power', tenant.call('PATCH', `/vms/${await one(tenant, '/vms')}`, { action }));
    },
    createDisk: (tenant) =>
      reply(
        'createDisk',
        tenant.call('POST', '/disks', {
          ...{ name: newName(), size: '10GiB', location: LOCATION, block_size: 512 },
          type: pick(['persistent-ssd', 'shared-volume']),
        }),
      ),
    deleteDisk: async (tenant) =>
      reply('deleteDisk', tenant.call('DELETE', `/disks/${await one(tenant, '/disks')}`)),
    growDisk: async (tenant) => {
      const id = await one(tenant, '/disks');
      const size = (grown.get(id ?? '') ?? 10) + 1;
      grown.set(id ?? '', size);
      return reply('growDisk', tenant.call('PATCH', `/disks/${id}`, { size: `${size}GiB` }));
    },
    attach: async (tenant) => {
      const disk = { disk_id: await one(tenant, '/disks'), mode: 'read-write' };
      const body = { attach_disks: [{ ...disk, attachment_type: 'data' }] };
      const path = `/vms/${await one(tenant, '/vms')}/attach-disks`;
      return reply('attach', tenant.call('POST', path, body));
    },
    detach: async (tenant) => {
      const body = { detach_disks: [await one(tenant, '/disks')] };
      const path = `/vms/${await one(tenant, '/vms')}/detach-disks`;
      return reply('detach', tenant.call('POST', path, body));
    },
    createRule: async (tenant) => {
      const vmId = await one(tenant, '/vms');
      const sources = vmId ? { sources: [{ resource_id: vmId }] } : {};
      const body = ruleBody(tenant.network, sources);
      return reply('createRule', tenant.call('POST', '/vpc/firewall-rules', body));
    },
    changeRule: async (tenant) => {
      const path = `/vpc/firewall-rules/${await one(tenant, '/vpc/firewall-rules')}`;
      const sources = [{ cidr: `10.${Math.floor(Math.random() * 200)}.0.0/16` }];
      return reply('changeRule', tenant.call('PATCH', path, { sources }));
    },
    deleteRule: async (tenant) => {
      const path = `/vpc/firewall-rules/${await one(tenant, '/vpc/firewall-rules')}`;
      return reply('deleteRule', tenant.call('DELETE', path));
    },
    changeSubnets: async (tenant) => {
      const cidr = `172.27.${128 + Math.floor(Math.random() * 100)}.0/24`;
      const body = { name: newName(), vpc_network_id: tenant.network, location: LOCATION, cidr };
      const added = await reply('createSubnet', tenant.call('POST', '/vpc/subnets', body));
      const id = added.id ?? added.operation?.metadata.id;
      if (id) await reply('deleteSubnet', tenant.call('DELETE', `/vpc/subnets/${id}`));
    },
    changeNetworks: async (tenant) => {
      const body = { name: newName(), cidr: `10.${Math.floor(Math.random() * 200)}.0.0/16` };
      const added = await reply('createNetwork', tenant.call('POST', '/vpc/networks', body));
      const id = added.id ?? added.operation?.metadata.id;
      if (id) await reply('deleteNetwork', tenant.call('DELETE', `/vpc/networks/${id}`));
    },
  };
  const operatorRequests: ((round: number) => Promise<unknown>)[] = [
    async () => {
      const host = pick(hosts);
      await admin('drain', `hosts/${host.id}:drain`);
      await admin('uncordon', `hosts/${host.id}:uncordon`);
    },
    async () => {
      const [device] = await sql`select id from devices order by random() limit 1`;
      await admin('quarantine', `devices/${device?.['id']}:quarantine`, { reason: 'look at it' });
      await admin('release', `devices/${device?.['id']}:release`);
    },
    async (round) => {
      const zone = `${round}`;
      if (round % 5 === 0)
        await admin('addLocation', 'locations', {
          ...{ name: `eu-west-${zone}`, region: 'eu-west', zone },
        });
    },
  ];

  /** What schedulers do if hosts or other schedulers are in trouble. */
  const troubles: (() => Promise<unknown>)[] = [
    // A host that could not clean up, or could not build a VM.
    () =>
      pick(hosts).obey(({ receipts, vms }) => {
        for (const receipt of receipts) receipt.failure = failure('reset_failed');
        const building = vms.find(({ state }) => state === 'VM_OBSERVED_STATE_RUNNING');
        if (building)
          Object.assign(building, {
            ...{ state: 'VM_OBSERVED_STATE_FAILED', failure: failure('device_failed') },
          });
      }),
    async () => {
      const lost = shuffled(hosts).slice(2);
      const ended = lost.map(({ id, epoch }) => ({ hostId: id, streamEpoch: epoch }));
      await closeStreams(elsewhere, ended);
      const silence = { schedulerMs: 60_000, hostMs: 0 };
      await markUnreachable({ sql, log, silence, steadyMs: Number.POSITIVE_INFINITY });
      for (const host of lost) await host.attachAgain();
    },
    async () => {
      const host = pick(hosts);
      await removeScheduler(elsewhere, host.schedulerId);
      await recordHeartbeat(elsewhere, { schedulerId: host.schedulerId, address: '' });
      await host.attachAgain();
    },
    async () => {
      const hostIds = shuffled(hosts).map(({ id }) => id);
      await updateImpairments(elsewhere, { hostIds, impairment: 'slow' });
      await updateImpairments(sql, { hostIds, impairment: '' });
      await forgetFailedBuilds(elsewhere, { afterMs: 0 });
    },
    async () => {
      const held = await sql`select id from devices where state = 'quarantined'`;
      for (const { id } of held) await admin('release', `devices/${id}:release`);
    },
    () => endOverdueOperations({ sql: elsewhere, log }),
    () => closeDueDays(elsewhere),
    () => adjustClosedDays(sql),
    () => cleanUp({ sql: elsewhere, log, maxBatches: 1 }),
  ];

  /** What schedulers do until the last request is answered. Two of a kind are two processes. */
  const loops: (() => Promise<unknown>)[] = [
    ...hosts.map((host) => () => host.obey()),
    () => placePending(placer),
    () => renewLeases(elsewhere, { leases: [lease], ttlMs: 3_600_000 }),
    () => settleWithoutHost(sql),
    () => settleWithoutHost(elsewhere),
  ];

  let longestWaitMs = 0;
  const watch = async () => {
    const [row] = await watcher<{ ms: number | null }[]>`
      select max(extract(epoch from clock_timestamp() - waitstart) * 1000)::float8 as ms from pg_locks
      where not granted and waitstart is not null`;
    longestWaitMs = Math.max(longestWaitMs, row?.ms ?? 0);
  };

  const working = [...loops, watch].map(writers.repeat);
  const isEnough = (rounds: number) =>
    rounds >= ROUNDS && ACCEPTED.every((name) => (accepted.get(name) ?? 0) > 0);
  for (let round = 0; !isEnough(round) && problems.length === 0; round += 1) {
    const all = [
      ...Object.values(requests).map((request) => () => request(pick(tenants))),
      ...operatorRequests.map((request) => () => request(round)),
      ...troubles,
    ];
    await Promise.all(all.map(writers.guard));
  }
  writers.stop();
  await Promise.all(working);

  expect(problems, inspect(problems, { depth: 6 })).toEqual([]);
  expect(longestWaitMs).toBeLessThan(STATEMENT_LIMIT_MS);
  expect(await sql`select from placements`).not.toHaveLength(0);
  expect(await countDeadlocks(watcher)).toBe(0);
});
