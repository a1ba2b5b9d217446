import type { StorageCluster } from '@gantry/ceph/storage-cluster';
import { newName } from '@gantry/testkit/make/request-bodies';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type PoolCloud, startPoolCloud } from './pool-cloud.ts';

let cloud: PoolCloud;
beforeAll(async () => {
  cloud = await startPoolCloud();
});
afterAll(() => cloud?.stop());

it('a volume is not grown while it is set back to a snapshot, also if both are due at the same time', async () => {
  const { sql, cluster } = cloud;
  const volumes = cloud.startVolumes();
  const { id: diskId } = await cloud.requestDisk();
  await cloud.settleVolumes();
  const body = { name: newName(), disk_id: diskId };
  const { id: snapshotId } = await cloud.request('POST', '/snapshots', body);
  const state = async () =>
    (await sql`select state from snapshots where id = ${snapshotId}`)[0]?.['state'];
  await expect.poll(state).toBe('ready');
  const { id: otherId } = await cloud.requestDisk();
  await cloud.settleVolumes();
  await volumes.stop();
  // As if the cluster had not replied until the operation that grows the disk had failed.
  await sql`update disks set size_gib = size_gib + 1, restore_snapshot_id = ${snapshotId} where id = ${diskId}`;
  await cloud.request('DELETE', `/disks/${otherId}`);
  await cloud.settleWithoutHost();

  let pass = () => {};
  const passed = new Promise<void>((resolve) => {
    pass = resolve;
  });
  const running = new Set<string>();
  const together: string[] = [];
  const alone = async <T>(step: string, run: () => Promise<T>): Promise<T> => {
    if (running.size > 0) together.push([...running, step].join(' and '));
    running.add(step);
    // The removal of the other disk is begun after all that is due for this one.
    await passed;
    return await run().finally(() => running.delete(step));
  };
  cloud.startVolumes({
    wrap: (real): StorageCluster => ({
      ...real,
      growVolume: (at) => alone('growing', () => real.growVolume(at)),
      restoreSnapshot: (at) => alone('restoring', () => real.restoreSnapshot(at)),
      async removeVolume(at) {
        await real.removeVolume(at);
        if (at.name === otherId) pass();
      },
    }),
  });
  const left = () =>
    sql`select from disks where id = ${diskId} and (restore_snapshot_id is not null or observed_size_gib < size_gib)`;
  await expect.poll(left).toEqual([]);
  expect(together).toEqual([]);
  const [disk] = await sql<
    { size: number }[]
  >`select size_gib as size from disks where id = ${diskId}`;
  const found = await cluster.readVolume({ pool: 'volumes', name: diskId });
  expect(found?.sizeBytes).toBe((disk?.size ?? 0) * 2 ** 30);
});
