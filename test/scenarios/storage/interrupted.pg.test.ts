import type { StorageCluster } from '@gantry/ceph/storage-cluster';
import { GIB } from '@gantry/daemon/units';
import { holdLocation } from '@gantry/testkit/make/placers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type PoolCloud, startPoolCloud } from './pool-cloud.ts';

let cloud: PoolCloud;
beforeAll(async () => {
  cloud = await startPoolCloud();
});
afterAll(() => cloud.stop());

type Method =
  | 'createVolume'
  | 'readVolume'
  | 'createKey'
  | 'growVolume'
  | 'removeKey'
  | 'removeVolume';
const METHODS: Method[] = [
  ...(['createVolume', 'readVolume', 'createKey'] as const),
  ...(['growVolume', 'removeKey', 'removeVolume'] as const),
];
const MOMENTS = METHODS.flatMap((method) => [
  { method, when: 'before' as const },
  { method, when: 'after' as const },
]);

/** Calls `happens` once, before or after the first call of the method. */
function interrupt(
  cluster: StorageCluster,
  { method, when }: (typeof MOMENTS)[number],
  happens: () => Promise<void>,
): StorageCluster {
  let isDone = false;
  return new Proxy(cluster, {
    get(target, name) {
      const call = Reflect.get(target, name) as (...args: unknown[]) => Promise<unknown>;
      if (name !== method) return call;
      return async (...args: unknown[]) => {
        if (isDone) return await call(...args);
        isDone = true;
        if (when === 'before') await happens();
        const result = await call(...args);
        if (when === 'after') await happens();
        return result;
      };
    },
  });
}

const volumesOf = async () =>
  (await cloud.cluster.listVolumes('volumes')).filter((name) => !name.startsWith('image-')).sort();
const disks = async () =>
  (
    await cloud.sql<
      { id: string }[]
    >`select id::text from disks where pool_id is not null order by id`
  ).map(({ id }) => id);
const keys = async () => (await cloud.cluster.listKeys('gantry-')).sort();
const keyRows = async () =>
  (await cloud.sql<{ entity: string }[]>`select entity from volume_keys order by entity`).map(
    ({ entity }) => entity,
  );

/** Another scheduler takes the lease at the moment, so that the first one cannot record what it did. */
it.each(MOMENTS)(
  'a scheduler that is replaced $when $method leaves one volume and its keys',
  async (moment) => {
    const { sql } = cloud;
    const lease = await holdLocation(sql);
    const first = cloud.startVolumes({
      lease,
      wrap: (cluster) =>
        interrupt(cluster, moment, async () => {
          cloud.startVolumes({ lease: await holdLocation(sql) });
        }),
    });
    const { id } = await cloud.requestDisk();
    await cloud.settleVolumes();
    const { operationId } = await cloud.request('PATCH', `/disks/${id}`, { size: '20GiB' });
    await cloud.settleVolumes();
    expect(await cloud.operation(operationId)).toMatchObject({ state: 'SUCCEEDED' });
    expect(await cloud.cluster.readVolume({ pool: 'volumes', name: id })).toMatchObject({
      sizeBytes: 20 * GIB,
    });
    expect(await volumesOf()).toEqual(await disks());
    await expect.poll(keys).toEqual(await keyRows());
    expect(await keyRows()).toHaveLength((await disks()).length);
    await cloud.request('DELETE', `/disks/${id}`);
    await cloud.settleWithoutHost();
    await cloud.settleVolumes();
    expect([await volumesOf(), await keys(), await keyRows()]).toEqual([[], [], []]);
    await first.stop();
    await cloud.stopVolumes();
  },
);

it('a cluster that does not reply in time is asked again, and nothing is made twice', async () => {
  const { cluster, sql } = cloud;
  cloud.startVolumes({ lease: await holdLocation(sql) });
  const known = await cloud.requestDisk();
  await cloud.settleVolumes();
  cluster.setNetwork('no_replies');
  const { id, operationId } = await cloud.requestDisk();
  const problem = async () =>
    (await sql`select problem from storage_clusters where id = ${cloud.clusterId}`)[0]?.['problem'];
  await expect.poll(problem).toContain('did not reply in time');
  cluster.setNetwork('up');
  await cloud.settleVolumes();
  expect(await cloud.operation(operationId)).toMatchObject({ state: 'SUCCEEDED' });
  expect(await volumesOf()).toEqual([known.id, id].sort());
  await expect.poll(keys).toEqual(await keyRows());
});
