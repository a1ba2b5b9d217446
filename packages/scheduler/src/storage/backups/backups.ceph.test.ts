import { mkdtemp, open, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { connectCeph } from '@gantry/ceph/ceph-cluster';
import type { StorageCluster } from '@gantry/ceph/storage-cluster';
import { startCeph, type TestCeph } from '@gantry/testkit/ceph/start-ceph';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { realVolumes } from '../testing/real-volumes.ts';
import { LOCATION, makeStorageWorld, POOL, type StorageWorld } from '../testing/storage-world.ts';

let ceph: TestCeph;
let cluster: StorageCluster;
let world: StorageWorld;
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'gantry-backups-'));
  ceph = await startCeph();
  cluster = connectCeph(ceph);
  world = await makeStorageWorld({ real: cluster, backupDirectory: directory });
});
afterAll(async () => {
  await world?.api.stop();
  await cluster?.close();
  await ceph?.stop();
  await rm(directory, { recursive: true, force: true });
});

const { qemuIo, checksum, finish, restoreBackup } = realVolumes(() => ({ ceph, world }));
/** Writes record n: 4 KiB of its own byte, at its own place, the second half of the records far behind the first. */
const record = (n: number) => `-P ${n + 1} ${n * 4096 + (n % 2) * 512 * 2 ** 20} 4096`;
const write = (name: string, records: readonly number[]) =>
  qemuIo(name, ...records.map((n) => `write ${record(n)}`));
async function missing(name: string, records: readonly number[]): Promise<number[]> {
  const lost: number[] = [];
  for (const n of records) {
    const output = await qemuIo(name, `read ${record(n)}`).catch(() => 'verification failed');
    if (output.includes('verification failed')) lost.push(n);
  }
  return lost;
}
const upTo = (n: number) => Array.from({ length: n }, (_, index) => index);

it('records written before each backup are there after its restore, and changes are smaller than the whole', async () => {
  const diskId = await world.makeDisk('', { size: '1GiB' });
  await qemuIo(diskId, 'write -P 99 64M 16M');
  await write(diskId, upTo(4));
  const full = await finish('POST', '/backups', { name: 'full', disk_id: diskId });
  const afterFull = await checksum(diskId);
  await write(diskId, upTo(8));
  // A guest that trims gives space back: the restored disk must have zeros there too.
  await qemuIo(diskId, 'discard 64M 8M');
  const changes = await finish('POST', '/backups', { name: 'changes', disk_id: diskId });
  const afterChanges = await checksum(diskId);
  await write(diskId, upTo(12));

  const file = (id: string) => path.join(directory, diskId, `${id}.diff`);
  const [fullBytes, changedBytes] = [
    (await stat(file(full))).size,
    (await stat(file(changes))).size,
  ];
  expect(fullBytes).toBeGreaterThan(16 * 2 ** 20);
  expect(changedBytes).toBeLessThan(2 ** 20);
  expect((await cluster.readVolume({ pool: POOL, name: diskId }))?.snapshots).toEqual([changes]);
  await cluster.removeVolume({ pool: POOL, name: diskId });

  const first = await restoreBackup('first', full);
  expect(await missing(first, upTo(4))).toEqual([]);
  expect(await checksum(first)).toBe(afterFull);
  const second = await restoreBackup('second', changes);
  expect(await missing(second, upTo(8))).toEqual([]);
  expect(await missing(second, [8, 9, 10, 11])).toEqual([8, 9, 10, 11]);
  expect(await checksum(second)).toBe(afterChanges);

  // Ceph's own program reads the same files.
  await ceph.run('rbd', 'create', '--size', '1G', `${POOL}/by-hand`);
  for (const id of [full, changes])
    await ceph.run('rbd', 'import-diff', '--no-progress', file(id), `${POOL}/by-hand`);
  expect(await checksum('by-hand')).toBe(afterChanges);
});

it('a damaged file leaves neither a disk nor a volume, and an interrupted export or restore is repeated', async () => {
  const diskId = await world.makeDisk('', { size: '1GiB' });
  await qemuIo(diskId, 'write -P 7 0 32M');
  const doomed = connectCeph(ceph);
  const { id, resourceId } = await world.begin('POST', '/backups', { name: 'x', disk_id: diskId });
  const exporting = world.carryOut({ cluster: doomed });
  await doomed.close();
  await exporting.catch(() => {});
  await world.carryOut();
  expect(await world.operation(id)).toMatchObject({ state: 'SUCCEEDED' });

  const handle = await open(path.join(directory, diskId, `${resourceId}.diff`), 'r+');
  const flip = async () => {
    const byte = Buffer.alloc(1);
    await handle.read(byte, 0, 1, 10 * 2 ** 20);
    byte[0] = (byte[0] ?? 0) ^ 1;
    await handle.write(byte, 0, 1, 10 * 2 ** 20);
  };
  await flip();
  const body = { name: 'y', size: '1GiB', location: LOCATION, backup_id: resourceId };
  const failed = await world.begin('POST', '/disks', body);
  await world.carryOut();
  expect((await world.operation(failed.id)).result).toMatchObject({
    ...{
      code: 'storage_failed',
      message: expect.stringContaining(`${resourceId}.diff is damaged`),
    },
  });
  expect((await world.call('GET', `/disks/${failed.resourceId}`)).status).toBe(404);
  expect(await ceph.run('rbd', 'ls', POOL)).not.toContain(failed.resourceId);
  await flip();
  await handle.close();

  const restoring = await world.begin('POST', '/disks', { ...body, name: 'z' });
  const second = connectCeph(ceph);
  const interrupted = world.carryOut({ cluster: second });
  await second.close();
  await interrupted.catch(() => {});
  await world.carryOut();
  expect(await world.operation(restoring.id)).toMatchObject({ state: 'SUCCEEDED' });
  expect(await checksum(restoring.resourceId)).toBe(await checksum(diskId));
});
