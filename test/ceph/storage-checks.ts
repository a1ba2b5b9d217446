import type { CephCloud } from '@gantry/testkit/ceph/ceph-cloud';
import { expect } from 'vitest';

const POOL = 'volumes';
/** A client that was killed is a watcher for half a minute more. */
const PATIENCE = { timeout: 120_000 };

/** Returns the volumes in the pool of the cloud, without images. */
export async function listVolumes({ ceph }: Pick<CephCloud, 'ceph'>): Promise<string[]> {
  const names: string[] = JSON.parse(await ceph.run('rbd', 'ls', POOL, '--format', 'json'));
  return names.filter((name) => !name.startsWith('image-'));
}

/** Returns the names of the keys that the cluster has for hosts. */
export async function listKeys({ ceph }: Pick<CephCloud, 'ceph'>): Promise<string[]> {
  return (await ceph.run('ceph', 'auth', 'ls')).match(/^client\.gantry-\S+$/gm) ?? [];
}

/** Waits until every volume belongs to a disk, every key to a volume, and every attached disk has one client. */
export async function expectNothingLeft(cloud: CephCloud): Promise<void> {
  const { sql } = cloud.processes;
  const unlike = (some: string[], others: string[]) => [
    ...some.filter((each) => !others.includes(each)),
    ...others.filter((each) => !some.includes(each)),
  ];
  // Everything is read anew each time, because keys are made in advance.
  const left = async () => {
    const disks = await sql<{ id: string }[]>`select d.id::text from disks d
      join storage_pools p on p.id = d.pool_id where p.name = ${POOL}`;
    const keys = await sql<{ entity: string; revoked: boolean }[]>`
      select entity, revoked from volume_keys`;
    const ids = disks.map(({ id }) => id);
    const entities = keys.map(({ entity }) => `client.${entity}`);
    return {
      volumes: unlike(await listVolumes(cloud), ids),
      keys: unlike(await listKeys(cloud), entities),
      discarded: await sql`select disk_id from discarded_volumes`,
      revoked: keys.filter(({ revoked }) => revoked),
    };
  };
  const nothing = { volumes: [], keys: [], discarded: [], revoked: [] };
  await expect.poll(left, PATIENCE).toEqual(nothing);
  for (const name of await listVolumes(cloud)) {
    const rows = await sql`select from disk_attachments where disk_id = ${name} and attached`;
    const status = () => cloud.ceph.run('rbd', 'status', `${POOL}/${name}`, '--format', 'json');
    const clients = async () => JSON.parse(await status()).watchers.length;
    await expect.poll(clients, PATIENCE).toBe(rows.length);
  }
}
