import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { connectCeph } from '@gantry/ceph/ceph-cluster';
import type { StorageCluster, Volume } from '@gantry/ceph/storage-cluster';
import { newId } from '@gantry/model/ids';
import { fenceClients } from '@gantry/scheduler/fencing/fence-storage';
import { startCeph, type TestCeph } from '@gantry/testkit/ceph/start-ceph';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { LiveQemu } from './live-qemu.ts';
import { STORAGE_ADDRESS, StorageNetwork } from './storage-network.ts';

const POOL = 'volumes';
const network = new StorageNetwork();
let ceph: TestCeph;
let cluster: StorageCluster;
let hosts: { namespace: string; address: string }[];
const qemus: LiveQemu[] = [];

beforeAll(async () => {
  await network.begin();
  hosts = [await network.addHost(1), await network.addHost(2)];
  ceph = await startCeph({ namespace: network.namespace, address: STORAGE_ADDRESS });
  cluster = connectCeph({ ...ceph, command: ['ip', 'netns', 'exec', network.namespace] });
});
afterAll(async () => {
  for (const qemu of qemus) await qemu.process.kill();
  await cluster?.close();
  await ceph?.stop();
  await network.end();
});

const createVolume = () => {
  const name = newId();
  const labels = { installation: 'test', resource: name };
  return cluster.createVolume({ pool: POOL, name, sizeBytes: 16 * 2 ** 20, labels });
};

/** Opens the volume on a host with a key of its own, as a VM that is placed there. */
const open = async (host: number, volume: Volume) => {
  const user = `gantry-${newId()}`;
  const key = await cluster.createKey({ entity: user, pool: POOL, volume });
  const { namespace = '' } = hosts[host] ?? {};
  const qemu = await LiveQemu.start(ceph, { name: user, namespace, volume, user, key });
  qemus.push(qemu);
  return qemu;
};

const digest = async ({ name }: Volume) => {
  const file = path.join(ceph.directory, `${newId()}.raw`);
  await ceph.run('rbd', 'export', '--no-progress', `${POOL}/${name}`, file);
  return createHash('sha256')
    .update(await readFile(file))
    .digest('hex');
};

it('without a fence, two live QEMUs on two hosts both write to one volume', async () => {
  const volume = await createVolume();
  const [one, two] = [await open(0, volume), await open(1, volume)];
  for (let record = 0; record < 4; record += 2) {
    await one.write(record);
    await two.write(record + 1);
  }
  for (let record = 0; record < 4; record += 1) await one.check(record);
});

it('with the fence, the next host reads every acknowledged record and writes, and the old one changes no byte', async () => {
  const volume = await createVolume();
  const old = await open(0, volume);
  let acknowledged = 0;
  let isStopped = false;
  const writing = (async () => {
    while (!isStopped) {
      await old.write(acknowledged);
      acknowledged += 1;
    }
  })();
  await expect.poll(() => acknowledged, { interval: 20 }).toBeGreaterThan(40);
  const { namespace = '', address = '' } = hosts[0] ?? {};
  old.process.suspend();
  await network.setLink(namespace, 'down');
  const known = acknowledged;
  isStopped = true;

  const startedMs = performance.now();
  const place = { cluster_id: '', pool: POOL, file_system: '' };
  const exposed = { ...place, name: volume.name, elsewhere: false };
  await fenceClients(cluster, { volumes: [exposed], addresses: [address] });
  const fencedMs = performance.now();
  const next = await open(1, volume);
  for (let record = 0; record < known; record += 1) await next.check(record);
  await next.write(known + 10);
  const writtenMs = performance.now();
  process.stderr.write(
    `${known} records; fence ${Math.round(fencedMs - startedMs)} ms, first write ${Math.round(writtenMs - startedMs)} ms\n`,
  );
  const before = await digest(volume);

  await network.setLink(namespace, 'up');
  old.process.resume();
  // The write that was under way is acknowledged only if it was complete before the fence.
  await writing.catch(() => {});
  for (let record = known; record < acknowledged; record += 1) await next.check(record);
  for (let attempt = 0; attempt < 3; attempt += 1)
    await expect(old.write(attempt)).rejects.toThrow();
  expect(await digest(volume)).toBe(before);
  expect(await cluster.readVolume(volume)).toMatchObject({
    watchers: [expect.stringContaining(hosts[1]?.address ?? '')],
  });
  await next.write(known + 11);
  await next.check(known + 11);
});
