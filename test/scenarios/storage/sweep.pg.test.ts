import { newId } from '@gantry/model/ids';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type PoolCloud, startPoolCloud } from './pool-cloud.ts';

let cloud: PoolCloud;
beforeAll(async () => {
  cloud = await startPoolCloud();
  cloud.startVolumes();
});
afterAll(() => cloud.stop());

const problem = async () => {
  const [row] = await cloud.sql<{ problem: string }[]>`
    select problem from storage_pools where id = ${cloud.poolId}`;
  return row?.problem;
};
const createDisk = async () => {
  const { id } = await cloud.requestDisk();
  await cloud.settleVolumes();
  return id;
};

it('what the database does not know is listed and stays, and so do the volumes of others', async () => {
  const { cluster, clusterId, sql } = cloud;
  const ours = newId();
  const labels = { installation: clusterId, resource: ours };
  const volume = await cluster.createVolume({ pool: 'volumes', name: ours, sizeBytes: 1, labels });
  const entity = `gantry-${ours}-00000000`;
  await cluster.createKey({ entity, pool: 'volumes', volume });
  cluster.addForeignVolume({ pool: 'volumes', name: 'theirs' });
  await expect.poll(problem).toContain(`1 volumes without a disk (${ours})`);
  expect(await problem()).toContain(`1 keys that the database does not know (${entity})`);
  expect(await problem()).not.toContain('theirs');
  expect(await cluster.listVolumes('volumes')).toEqual(expect.arrayContaining([ours, 'theirs']));
  expect(await cluster.listKeys('gantry-')).toContain(entity);
  await cluster.removeKey(entity);
  await cluster.removeVolume({ pool: 'volumes', name: ours });
  await expect.poll(problem).toBe('');
  expect(await sql`select from discarded_volumes`).toHaveLength(0);
});

it('after the database went back to an earlier state nothing is removed, and the differences are listed', async () => {
  const { cluster, sql } = cloud;
  const [lost, created] = [await createDisk(), await createDisk()];
  const rows = await sql`select * from disks where id = ${lost}`;
  expect(rows).toHaveLength(1);
  // Later one disk was removed with its volume, and another one was created. The database forgets both.
  await cluster.removeVolume({ pool: 'volumes', name: lost });
  await sql`alter table disks disable trigger user`;
  await sql`delete from operations where resource_id = ${created}`;
  await sql`delete from volume_keys where disk_id = ${created}`;
  await sql`delete from disks where id = ${created}`;
  await sql`alter table disks enable trigger user`;
  await expect.poll(problem).toContain(`1 volumes without a disk (${created})`);
  expect(await problem()).toContain(`1 disks without a volume (${lost})`);
  await cloud.settleVolumes();
  expect(await cluster.listVolumes('volumes')).toContain(created);
});

it('a cluster with another id is not touched', async () => {
  const { cluster, clusterId, sql } = cloud;
  await cloud.stopVolumes();
  await sql`update storage_clusters set fsid = 'another cluster' where id = ${clusterId}`;
  const before = await cluster.listVolumes('volumes');
  cloud.startVolumes();
  const { id } = await cloud.requestDisk();
  const clusterProblem = async () =>
    (await sql`select problem from storage_clusters where id = ${clusterId}`)[0]?.['problem'];
  await expect.poll(clusterProblem).toContain('it is not touched');
  expect(await cluster.listVolumes('volumes')).toEqual(before);
  await cloud.stopVolumes();
  await sql`update storage_clusters set fsid = '' where id = ${clusterId}`;
  cloud.startVolumes();
  await cloud.settleVolumes();
  expect(await cluster.listVolumes('volumes')).toContain(id);
  await expect.poll(clusterProblem).toBe('');
});
