import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { buildTinyGuest } from '@gantry/local/guest/build-tiny-guest';
import { startCeph, type TestCeph } from '@gantry/testkit/ceph/start-ceph';
import { type Client, connectClient } from '@gantry/testkit/processes/client';
import {
  type Api,
  type Processes,
  type Scheduler,
  startProcesses,
} from '@gantry/testkit/processes/start-processes';
import { tinyGuestDirectory } from '@gantry/testkit/real-host/guest/tiny-guest-directory';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cpuOfTree } from '../fleet/process.ts';
import { missedGoals, row } from '../fleet/table.ts';

/**
 * Creates VMs from one image, first with disks on their hosts and then with disks in a storage cluster. Counts what is
 * copied in the cluster and the processor time of the control plane: the api, the scheduler and its helper, without
 * PostgreSQL. Api, scheduler and cluster are real, and the hosts are simulated, because one machine cannot run this many guests.
 */
const VMS = Number(process.env['GANTRY_BENCH_VMS'] ?? 200);
const AT_ONCE = 8;
const POOL = 'volumes';
const LOCATION = 'eu-north-a';

let ceph: TestCeph;
let processes: Processes;
let api: Api;
let scheduler: Scheduler;
let client: Client;

beforeAll(async () => {
  ceph = await startCeph();
  const keys = path.join(ceph.directory, 'scheduler-keys');
  await mkdir(keys, { mode: 0o700 });
  await writeFile(path.join(keys, 'lab.key'), `${ceph.key}\n`, { mode: 0o600 });
  processes = await startProcesses();
  api = await processes.startApi();
  scheduler = await processes.startScheduler({ GANTRY_STORAGE_KEYS_DIRECTORY: keys });
  const hosts = `${LOCATION}:a40-8=${Math.ceil((VMS + 1) / 8)}`;
  const env = {
    GANTRY_FLEET_BOOT_MS: '0',
    GANTRY_FLEET_SHUTDOWN_MS: '0',
    GANTRY_LOG_LEVEL: 'warn',
  };
  await processes.startFleet({ name: 'fleet', hosts, schedulers: [scheduler], api, env });
  client = await connectClient(processes, api, { patienceMs: 300_000 });
  const { sql } = processes;
  await sql`update quotas set max = 1000000`;
  const guest = await buildTinyGuest({ directory: tinyGuestDirectory });
  await sql`update images set source_url = ${pathToFileURL(guest.path).href}, sha256 = ${guest.sha256}`;
});
afterAll(async () => {
  await processes?.stop();
  await ceph?.stop();
});

/** Milliseconds of processor time of the api, the scheduler and the scheduler's helpers. */
const spent = () => ({
  api: cpuOfTree(api.pid) / 1_000,
  scheduler: cpuOfTree(scheduler.pid) / 1_000,
});

const createVms = async (prefix: string, count: number): Promise<string[]> => {
  const ids: string[] = [];
  const left = Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
  const work = async () => {
    for (let name = left.pop(); name !== undefined; name = left.pop()) {
      const operation = await client.ended(await client.createVm({ name }));
      expect(operation).toMatchObject({ state: 'SUCCEEDED' });
      ids.push(operation.result.id);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return ids;
};

/** Creates the VMs and prints what one of them costs. */
const measure = async (driver: string, count: number): Promise<string[]> => {
  const before = spent();
  const begun = performance.now();
  const ids = await createVms(driver, count);
  const wallMs = performance.now() - begun;
  // What is done after the reply counts too: the keys that are made in advance.
  await delay(2_000);
  const after = spent();
  row(`${driver}: CPU of the api per VM`, (after.api - before.api) / count, 'ms');
  row(
    `${driver}: CPU of scheduler and helper per VM`,
    (after.scheduler - before.scheduler) / count,
    'ms',
  );
  row(`${driver}: VMs per second`, (count * 1_000) / wallMs, '/s');
  return ids;
};

const deleteVms = async (ids: string[]) => {
  const left = [...ids];
  const work = async () => {
    for (let id = left.pop(); id !== undefined; id = left.pop())
      await client.ended(await client.open('DELETE', `/vms/${id}`));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
};

async function connectPool(): Promise<void> {
  const { sql } = processes;
  // The hosts are simulated and never connect from there.
  await sql`update hosts h set storage_address = ('198.51.100.' || n.row)::inet from
    (select id, row_number() over () as row from hosts) n where n.id = h.id`;
  const cluster = await client.admin('POST', '/storage/clusters', {
    ...{ name: 'lab', monitors: ceph.monitors, user_name: ceph.userName },
  });
  const pool = await client.admin('POST', '/storage/pools', {
    ...{ storage_cluster_id: cluster.body.id, name: POOL, location: LOCATION },
    ...{ disk_type: 'persistent-ssd', overcommit_percent: 1_000 },
  });
  expect(pool).toMatchObject({ status: 200 });
}

const dataObjects = async () =>
  (await ceph.run('rados', '-p', POOL, 'ls'))
    .split('\n')
    .filter((name) => name.startsWith('rbd_data.')).length;

it('VMs from one image on a storage cluster copy nothing', async () => {
  const local = await measure('file', VMS);
  await deleteVms(local);
  await connectPool();
  // The first one imports the image.
  await createVms('first', 1);
  const objects = await dataObjects();
  await measure('rbd', VMS);
  const copied = (await dataObjects()) - objects;
  row(`objects of data that ${VMS} VMs added to the pool`, copied, '', { most: 0 });
  const volumes = JSON.parse(await ceph.run('rbd', 'ls', POOL, '--format', 'json'));
  expect(volumes.filter((name: string) => !name.startsWith('image-'))).toHaveLength(VMS + 1);
  const { images } = JSON.parse(await ceph.run('rbd', 'du', '-p', POOL, '--format', 'json'));
  const used = images
    .filter(({ name }: { name: string }) => !name.startsWith('image-'))
    .reduce((sum: number, each: { used_size: number }) => sum + each.used_size, 0);
  row('bytes that their volumes use, by rbd du', used, 'bytes', { most: 0 });
  expect(missedGoals()).toBe(0);
});
