import { randomBytes } from 'node:crypto';
import { StorageError } from '@gantry/ceph/storage-error';
import type { Lease } from '@gantry/db/queries/placement/leases';
import {
  insertKey,
  listSealedKeys,
  removeKey,
  updateKeyAbandoned,
  updateKeyMade,
  updateSealedKey,
} from '@gantry/db/queries/storage/volume-keys';
import type { KeyToMake, KeyToRemove } from '@gantry/db/queries/storage/volume-work';
import { writeWithLease } from './lease-writes.ts';
import type { VolumeContext } from './volume-context.ts';
import { storeOf } from './volume-store.ts';

export const KEY_PURPOSE = 'volume key';
/** All our keys in a cluster have names with this prefix. */
export const KEY_PREFIX = 'gantry-';

/**
 * Makes a key of a volume. Its row is written first, as revoked, so that a key that nothing waits for any more is removed
 * after a crash at any point. A key is not used before its row is complete.
 */
export async function makeKey(
  context: VolumeContext,
  { lease, key: wanted }: { lease: Lease; key: KeyToMake },
): Promise<void> {
  const { cluster_id, pool, pool_id: poolId, disk_id: diskId } = wanted;
  const entity = `${KEY_PREFIX}${diskId}-${randomBytes(4).toString('hex')}`;
  const isWanted = await writeWithLease(context, lease, (tx) =>
    insertKey(tx, { entity, diskId, poolId }),
  );
  if (!isWanted) return;
  const key = await context.clusters.use(cluster_id, async (cluster) => {
    const made = await storeOf(cluster, wanted).createKey({ entity, name: diskId });
    if (made !== null) return made;
    throw new StorageError('not_found', `the pool ${pool} has no volume of the disk`);
  });
  const sealedKey = context.secrets.seal(KEY_PURPOSE, key);
  const record = () =>
    writeWithLease(context, lease, (tx) => updateKeyMade(tx, { entity, diskId, sealedKey }));
  let outcome = await record();
  while (outcome === 'attached_meanwhile') outcome = await record();
  if (outcome === 'gone')
    await context.clusters.use(cluster_id, (cluster) => cluster.removeKey(entity));
}

export async function removeRevokedKey(
  context: VolumeContext,
  { lease, key: { cluster_id, entity, is_unmade } }: { lease: Lease; key: KeyToRemove },
): Promise<void> {
  const isAbandoned = () => writeWithLease(context, lease, (tx) => updateKeyAbandoned(tx, entity));
  if (is_unmade && !(await isAbandoned())) return;
  await context.clusters.use(cluster_id, (cluster) => cluster.removeKey(entity));
  await writeWithLease(context, lease, (tx) => removeKey(tx, entity));
}

/** Moves the keys of a pool to the first of the fleet keys, so that the others can be removed. */
export async function resealKeys(context: VolumeContext, poolId: string): Promise<void> {
  for (const { entity, sealed_key: from } of await listSealedKeys(context.sql, poolId)) {
    const to = context.secrets.reseal(KEY_PURPOSE, from);
    if (to !== undefined) await updateSealedKey(context.sql, { entity, from, to });
  }
}
