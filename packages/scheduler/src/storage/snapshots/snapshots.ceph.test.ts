import { connectCeph } from '@gantry/ceph/ceph-cluster';
import type { StorageCluster } from '@gantry/ceph/storage-cluster';
import { startCeph, type TestCeph } from '@gantry/testkit/ceph/start-ceph';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { realVolumes } from '../testing/real-volumes.ts';
import { LOCATION, makeStorageWorld, POOL, type StorageWorld } from '../testing/storage-world.ts';

let ceph: TestCeph;
let cluster: StorageCluster;
let world: StorageWorld;

beforeAll(async () => {
  ceph = await startCeph();
  cluster = connectCeph(ceph);
  world = await makeStorageWorld({ real: cluster });
});
afterAll(async () => {
  await world?.api.stop();
  await cluster?.close();
  await ceph?.stop();
});

const { qemuIo, has, finish } = realVolumes(() => ({ ceph, world }));
const fill = (name: string, byte: string) => qemuIo(name, `write -P ${byte} 0 4M`);

it('a snapshot keeps its content, restores it, and its copy outlives the snapshot and the disk', async () => {
  const diskId = await world.makeDisk('', { size: '1GiB' });
  await fill(diskId, '0x11');
  const snapshotId = await finish('POST', '/snapshots', { name: 'first', disk_id: diskId });
  await fill(diskId, '0x22');
  expect(await has(diskId, '0x22')).toBe(true);

  const copy = { name: 'copy', size: '2GiB', location: LOCATION, snapshot_id: snapshotId };
  const copyId = await finish('POST', '/disks', copy);
  expect(await has(copyId, '0x11')).toBe(true);
  expect(await cluster.readVolume({ pool: POOL, name: copyId })).toMatchObject({
    ...{ sizeBytes: 2 * 2 ** 30, parentId: null, snapshots: [], labels: { resource: copyId } },
  });

  expect(await has(diskId, '0x11')).toBe(false);
  await finish('PATCH', `/disks/${diskId}`, { size: '3GiB' });
  await finish('POST', `/snapshots/${snapshotId}:restore`);
  expect(await has(diskId, '0x11')).toBe(true);
  expect((await cluster.readVolume({ pool: POOL, name: diskId }))?.sizeBytes).toBe(3 * 2 ** 30);

  await finish('DELETE', `/snapshots/${snapshotId}`);
  expect((await cluster.readVolume({ pool: POOL, name: diskId }))?.snapshots).toEqual([]);
  await cluster.removeVolume({ pool: POOL, name: diskId });
  expect(await has(copyId, '0x11')).toBe(true);
});

it('a restore that was interrupted is seen on the volume, and its repetition keeps the size', async () => {
  const diskId = await world.makeDisk('', { size: '1GiB' });
  await fill(diskId, '0x44');
  const snapshotId = await finish('POST', '/snapshots', { name: 'kept', disk_id: diskId });
  await finish('PATCH', `/disks/${diskId}`, { size: '2GiB' });
  await fill(diskId, '0x55');
  const at = { pool: POOL, name: diskId };
  const volume = `${POOL}/${diskId}`;
  // As a scheduler leaves it that is killed after the rollback has given the volume the size of the snapshot.
  await ceph.run('rbd', 'image-meta', 'set', volume, 'gantry.restoring', `${2 * 2 ** 30}`);
  await ceph.run('rbd', 'resize', '--allow-shrink', '--no-progress', '--size', '1G', volume);
  expect(await cluster.readVolume(at)).toMatchObject({ isRestoring: true });
  await finish('POST', `/snapshots/${snapshotId}:restore`);
  expect(await cluster.readVolume(at)).toMatchObject({
    ...{ isRestoring: false, sizeBytes: 2 * 2 ** 30 },
  });
  expect(await has(diskId, '0x44')).toBe(true);
});

it('an interrupted copy leaves no volume, and the next attempt completes it', async () => {
  const diskId = await world.makeDisk('', { size: '1GiB' });
  await fill(diskId, '0x33');
  const snapshotId = await finish('POST', '/snapshots', { name: 'second', disk_id: diskId });
  const body = { name: 'again', size: '1GiB', location: LOCATION, snapshot_id: snapshotId };
  const { id, resourceId } = await world.begin('POST', '/disks', body);
  const doomed = connectCeph(ceph);
  const copying = world.carryOut({ cluster: doomed });
  await doomed.close();
  await copying.catch(() => {});
  const volumes = await cluster.listVolumes(POOL);
  const { state } = await world.operation(id);
  // Either the copy was complete before the end, or there is no volume of this name.
  expect(volumes.includes(resourceId)).toBe(state === 'SUCCEEDED');
  await world.carryOut();
  expect(await world.operation(id)).toMatchObject({ state: 'SUCCEEDED' });
  expect(await has(resourceId, '0x33')).toBe(true);
});
