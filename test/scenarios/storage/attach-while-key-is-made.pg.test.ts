import type { StorageCluster } from '@gantry/ceph/storage-cluster';
import { insertAttachment } from '@gantry/db/queries/vms/disks';
import type { HandDrivenHost } from '@gantry/testkit/hosts/hand-driven-host';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type PoolCloud, startPoolCloud } from './pool-cloud.ts';

let cloud: PoolCloud;
let host: HandDrivenHost;

beforeAll(async () => {
  cloud = await startPoolCloud();
  host = await cloud.addStorageHost();
});
afterAll(() => cloud.stop());

/** Calls `happens` after each key that the cluster has made, before the scheduler records the key. */
function afterKeys(cluster: StorageCluster, happens: (diskId: string) => Promise<void>) {
  return new Proxy(cluster, {
    get(target, name) {
      if (name !== 'createKey') return Reflect.get(target, name);
      const create: StorageCluster['createKey'] = async (wanted) => {
        const key = await target.createKey(wanted);
        await happens(wanted.volume.name);
        return key;
      };
      return create;
    },
  });
}

it('a disk that is attached while its key is recorded reaches the host with the key', async () => {
  const { sql } = cloud;
  const volumes = cloud.startVolumes();
  const { id: vmId } = await cloud.createVm();
  await cloud.settleVolumes();
  await cloud.placeVms();
  await host.obey();
  await volumes.stop();

  const attaching: Promise<unknown>[] = [];
  const waiting = async () =>
    await sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  /** Attaches the disk as the api does, and commits when the scheduler waits for the lock of the disk. */
  const attach = (diskId: string) =>
    new Promise<void>((attached) => {
      const done = sql.begin(async (tx) => {
        await tx`select from vms where id = ${vmId} for update`;
        await tx`select from disks where id = ${diskId} for update`;
        await insertAttachment(tx, { vmId, diskId, mode: 'read-write', exclusive: true });
        attached();
        await expect.poll(waiting).toHaveLength(1);
      });
      attaching.push(done);
    });
  cloud.startVolumes({ wrap: (cluster) => afterKeys(cluster, attach) });
  const { id: diskId } = await cloud.requestDisk();
  await expect.poll(() => attaching.length).toBe(1);
  await Promise.all(attaching);
  await cloud.settleVolumes();

  const disks = (await host.spec()).vms?.find(({ id }) => id === vmId)?.disks;
  expect(disks?.find(({ id }) => id === diskId)?.rbd?.user).toContain(diskId);
});
