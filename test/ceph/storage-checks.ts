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
  const ids = async () =>
    (await sql<{ id: string }[]>`select id::text from disks`).map(({ id }) => id);
  const entities = async () =>
    (await sql<{ entity: string }[]>`select entity from volume_keys where not revoked`).map(
      ({ entity }) => `client.${entity}`,
    );
  await expect
    .poll(
      async () => ({
        volumes: (await listVolumes(cloud)).sort(),
        keys: (await listKeys(cloud)).sort(),
        discarded: await sql`select disk_id from discarded_volumes`,
        revoked: await sql`select entity from volume_keys where revoked`,
      }),
      PATIENCE,
    )
    .toEqual({
      ...{ volumes: (await ids()).sort(), keys: (await entities()).sort() },
      ...{ discarded: [], revoked: [] },
    });
  for (const name of await listVolumes(cloud)) {
    const rows = await sql`select from disk_attachments where disk_id = ${name} and attached`;
    const clients = async () =>
      JSON.parse(await cloud.ceph.run('rbd', 'status', `${POOL}/${name}`, '--format', 'json'))
        .watchers;
    await expect.poll(async () => (await clients()).length, PATIENCE).toBe(rows.length);
  }
}
