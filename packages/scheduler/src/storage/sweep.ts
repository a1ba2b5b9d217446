import type { StorageCluster } from '@gantry/ceph/storage-cluster';
import { readKnownVolumes } from '@gantry/db/queries/storage/known-volumes';
import type { PoolRow } from '@gantry/db/queries/storage/pools';
import type { VolumeContext } from './volume-context.ts';
import { KEY_PREFIX } from './volume-keys.ts';
import { storeOf } from './volume-store.ts';

/** How a pool differs from what the database knows. Nothing of it is ever removed: the database may be the one that is wrong. */
export type Differences = {
  /** Volumes with our labels that no disk, image or removal explains. */
  volumesWithoutDisk: string[];
  /** Disks and images whose volume is missing. */
  disksWithoutVolume: string[];
  /** Keys of the cluster with a name like ours that are not in the database. */
  keysWithoutRow: string[];
  rowsWithoutKey: string[];
};

type Sweep = { context: VolumeContext; cluster: StorageCluster; pool: PoolRow };

/** More are not looked at one by one. A pool may have many volumes of others. */
const MOST_READ = 200;

/**
 * Compares a pool with the database. The cluster is listed before and after the database is read, and a difference counts
 * only if both agree on it: what is created or removed meanwhile is none.
 */
export async function findDifferences({ context, cluster, pool }: Sweep): Promise<Differences> {
  const store = storeOf(cluster, placeOf(pool));
  const read = async () => ({
    volumes: new Set(await store.list()),
    keys: new Set(await cluster.listKeys(KEY_PREFIX)),
  });
  const before = await read();
  const known = await readKnownVolumes(context.sql, pool.id);
  const after = await read();
  const stillKnown = await readKnownVolumes(context.sql, pool.id);
  const still = {
    required: new Set(stillKnown.required),
    requiredKeys: new Set(stillKnown.requiredKeys),
  };
  const isIn = (name: string, kind: 'volumes' | 'keys') =>
    before[kind].has(name) && after[kind].has(name);
  const isMissing = (name: string, kind: 'volumes' | 'keys') =>
    !before[kind].has(name) && !after[kind].has(name);
  const allowed = new Set(known.allowed);
  const unknown = [...before.volumes].filter((name) => !allowed.has(name) && isIn(name, 'volumes'));
  const knownKeys = new Set(known.keys);
  return {
    volumesWithoutDisk: await onlyOurs({ context, cluster, pool }, unknown.slice(0, MOST_READ)),
    disksWithoutVolume: known.required.filter(
      (name) => isMissing(name, 'volumes') && still.required.has(name),
    ),
    keysWithoutRow: [...before.keys].filter(
      (entity) => !knownKeys.has(entity) && isIn(entity, 'keys'),
    ),
    rowsWithoutKey: known.requiredKeys.filter(
      (entity) => isMissing(entity, 'keys') && still.requiredKeys.has(entity),
    ),
  };
}

/** Volumes of others are no difference. */
async function onlyOurs({ cluster, pool }: Sweep, names: readonly string[]): Promise<string[]> {
  const ours: string[] = [];
  for (const name of names) {
    const volume = await storeOf(cluster, placeOf(pool)).read(name);
    if (volume?.labels?.installation === pool.cluster_id) ours.push(name);
  }
  return ours;
}

function placeOf({ cluster_id, name: pool, file_system }: PoolRow) {
  return { cluster_id, pool, file_system };
}

const WORDS: [keyof Differences, string][] = [
  ['volumesWithoutDisk', 'volumes without a disk'],
  ['disksWithoutVolume', 'disks without a volume'],
  ['keysWithoutRow', 'keys that the database does not know'],
  ['rowsWithoutKey', 'keys that the cluster does not have'],
];
const MOST_NAMED = 5;

/** Returns the differences in words; empty if there are none. */
export function describeDifferences(differences: Differences): string {
  const parts = WORDS.flatMap(([kind, words]) => {
    const names = differences[kind];
    if (names.length === 0) return [];
    const more = names.length > MOST_NAMED ? ', …' : '';
    return [`${names.length} ${words} (${names.slice(0, MOST_NAMED).join(', ')}${more})`];
  });
  return parts.length === 0 ? '' : `differs from the database: ${parts.join('; ')}`;
}
