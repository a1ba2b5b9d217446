import { setTimeout } from 'node:timers/promises';
import { fenceCovers } from '@gantry/ceph/fence-address';
import type { StorageCluster } from '@gantry/ceph/storage-cluster';
import { StorageError } from '@gantry/ceph/storage-error';
import type { Sql } from '@gantry/db/connect';
import {
  type ExposedVolume,
  type FenceKey,
  type HostToFence,
  insertStorageFence,
  listExposedVolumes,
  listKeysOfHost,
  readStorageFence,
  updateFenceEffective,
} from '@gantry/db/queries/hosts/storage-fences';
import { groupBy } from '@gantry/model/group-by';
import { type StoredVolume, storeOf } from '../storage/volume-store.ts';
import type { ClusterOf } from './clusters.ts';

type Fencing = { sql: Sql; clusters: ClusterOf; host: HostToFence };

/** The watch of a fenced client ends when the OSD has the newer map, which takes milliseconds. */
const LOOK_MS = 100;
const MOST_LOOKS = 20;

/**
 * Fences a host in every storage cluster in which it may have a volume open. Returns why it is not fenced yet; empty if
 * it is.
 *
 * 1. The fence is written to the database, so that no entry of a cluster's blocklist is ever unknown.
 * 2. The cluster records it: from then on no client of the host can write.
 * 3. No client of the host has a watch on a volume any more, and the locks that clients left are broken.
 * 4. The fence is marked as effective.
 *
 * Every step can be repeated, so a scheduler that is killed between any two of them leaves nothing to clean up.
 */
export async function fenceStorage({ sql, clusters, host }: Fencing): Promise<string> {
  const exposed = await listExposedVolumes(sql, host.id);
  const problems: string[] = [];
  for (const [clusterId, volumes] of groupBy(exposed, ({ cluster_id }) => cluster_id)) {
    const key = { clusterId, hostId: host.id };
    try {
      await fenceInCluster({ sql, cluster: await clusters(clusterId), host, key, volumes });
    } catch (error) {
      if (!(error instanceof StorageError || error instanceof Unfenced)) throw error;
      problems.push(`storage cluster ${volumes[0]?.cluster}: ${error.message}`);
    }
  }
  return problems.join('; ');
}

/** The fence has to wait. The message is for operators. */
class Unfenced extends Error {}

type InCluster = {
  sql: Sql;
  cluster: StorageCluster;
  host: HostToFence;
  key: FenceKey;
  volumes: readonly ExposedVolume[];
};

async function fenceInCluster({ sql, cluster, host, key, volumes }: InCluster): Promise<void> {
  const known = await readStorageFence(sql, key);
  if (known?.effective) return;
  const { addresses } =
    known ??
    (await insertStorageFence(sql, {
      ...key,
      addresses: await addressesToFence({ sql, cluster, host, key, volumes }),
    }));
  await fenceClients(cluster, { volumes, addresses });
  await updateFenceEffective(sql, key);
}

type Fenced = {
  volumes: readonly Pick<
    ExposedVolume,
    'cluster_id' | 'pool' | 'file_system' | 'name' | 'elsewhere'
  >[];
  addresses: readonly string[];
};

/** Afterwards no client of the addresses can write to the volumes, and the next client can at once. */
export async function fenceClients(
  cluster: StorageCluster,
  { volumes, addresses }: Fenced,
): Promise<void> {
  await cluster.fence(addresses);
  const fileSystems = new Set(volumes.map(({ file_system }) => file_system).filter(Boolean));
  for (const each of fileSystems) await cluster.endFencedSessions(each);
  for (const volume of volumes) await releaseVolume(cluster, { volume, addresses });
}

/**
 * The address of the host stands for all its clients, also those that open a volume later. An address that a live host
 * has too cannot be fenced. Then the single clients are fenced, if these are provably all.
 */
async function addressesToFence(fencing: InCluster): Promise<string[]> {
  const { host } = fencing;
  if (host.storage_address === null)
    throw new Unfenced('the host has never reported the address from which it reaches the cluster');
  if (!host.shares_address) return [host.storage_address];
  return await clientsToFence(fencing, host.storage_address);
}

/**
 * With its keys removed, the host cannot open a volume again. A client that was cut off for long has no watch, so the
 * watches show all clients only if each volume that a VM of the host has is watched exactly once from the address.
 */
async function clientsToFence(
  { sql, cluster, key, volumes }: InCluster,
  address: string,
): Promise<string[]> {
  for (const entity of await listKeysOfHost(sql, key)) await cluster.removeKey(entity);
  const clients = new Set<string>();
  for (const exposed of volumes) {
    const volume = await storeOf(cluster, exposed).read(exposed.name);
    if (!volume) continue;
    const here = clientsOf(volume).filter((client) => fenceCovers(address, client));
    const watches = volume.watchers.filter((client) => fenceCovers(address, client));
    if (exposed.elsewhere || (!exposed.released && watches.length !== 1))
      throw new Unfenced(
        `another host has the address ${address} too, and volume ${exposed.name} does not show which clients are those ` +
          'of this host: fence or shut down the other host first',
      );
    for (const client of here) clients.add(client);
  }
  return [...clients].sort();
}

type Release = { volume: Fenced['volumes'][number]; addresses: readonly string[] };

/** Waits until no fenced client has a watch on the volume, and breaks the lock that one may have left. */
async function releaseVolume(
  cluster: StorageCluster,
  { volume: exposed, addresses }: Release,
): Promise<void> {
  const isFenced = (client: string) => addresses.some((address) => fenceCovers(address, client));
  for (let look = 1; ; look += 1) {
    const volume = await storeOf(cluster, exposed).read(exposed.name);
    if (!volume) return;
    const stranger = clientsOf(volume).find((client) => !isFenced(client));
    // A client at an address that the host does not have is perhaps this host, or a scheduler that copies the volume.
    if (stranger !== undefined && !exposed.elsewhere)
      throw new Unfenced(
        `volume ${exposed.name} is open at ${stranger}, which is no address of the host: if it is a client of the host, ` +
          'add it to the blocklist of the cluster',
      );
    const isWatched = volume.watchers.some(isFenced);
    const isLocked = volume.locker !== null && isFenced(volume.locker);
    if (!isWatched && !isLocked) return;
    if (look === MOST_LOOKS)
      throw new Unfenced(`volume ${exposed.name} is still open at ${clientsOf(volume).join(', ')}`);
    if (isWatched) await setTimeout(LOOK_MS);
    else await cluster.breakLock(exposed);
  }
}

function clientsOf({ watchers, locker }: StoredVolume): string[] {
  return [...new Set([...watchers, ...(locker === null ? [] : [locker])])];
}
