import type { Queryable } from '../../connect.ts';
import { lockVmsOfDisk } from '../vms/disks.ts';

/** The keys of volumes. The caller has locked the lease of the location. */

export type NewKey = { entity: string; diskId: string; poolId: string };

/**
 * Inserts the row of a key before the key is made in the cluster, so that every key there has a row. It is revoked until
 * `updateKeyMade`: if the scheduler ends in between, the key is removed. Returns false if the disk wants no key any more.
 */
export async function insertKey(
  sql: Queryable,
  { entity, diskId, poolId }: NewKey,
): Promise<boolean> {
  const { count } =
    await sql`insert into volume_keys (entity, disk_id, pool_id, sealed_key, revoked)
    select ${entity}, id, ${poolId}, '', true from disks where id = ${diskId} and wants_key`;
  return count > 0;
}

/**
 * `gone`: the disk or the row of the key does not exist any more, so the key has to be removed from the cluster.
 * `attached_meanwhile`: nothing was written, and the caller has to call again.
 */
export type KeyOutcome = 'available' | 'gone' | 'attached_meanwhile';

/**
 * Makes the key available, and gives it to the host of a placed VM that waits for it.
 *
 * VMs are locked before disks. A VM that attached the disk between the two locks is not locked, and did not see the key
 * either. The caller then calls again in another transaction, which locks that VM too; otherwise the VM would wait for
 * a key for ever.
 */
export async function updateKeyMade(
  sql: Queryable,
  { entity, diskId, sealedKey }: { entity: string; diskId: string; sealedKey: string },
): Promise<KeyOutcome> {
  const vmIds = await lockVmsOfDisk(sql, diskId);
  const disks = await sql`select from disks where id = ${diskId} for update`;
  if (disks.length === 0) return 'gone';
  const others = await sql`select from disk_attachments
    where disk_id = ${diskId} and vm_id <> all(${vmIds}::uuid[])`;
  if (others.length > 0) return 'attached_meanwhile';
  const { count } = await sql`update volume_keys set sealed_key = ${sealedKey}, revoked = false
    where entity = ${entity} and sealed_key = ''`;
  if (count === 0) return 'gone';
  await sql`update disks set wants_key = false, volume_problem = '' where id = ${diskId}`;
  await sql`select assign_volume_keys(${vmIds}::uuid[])`;
  // The host gets the volume with a new revision, because it was left out of the one before.
  await sql`update vms set revision = greatest(revision + 1, count_floor()) where placed and id in (
    select p.vm_id from volume_keys k join placements p on p.host_id = k.host_id
    join disk_attachments a on a.vm_id = p.vm_id and a.disk_id = k.disk_id where k.entity = ${entity})`;
  return 'available';
}

/** The key must not be used any more, also if it is made only now. Returns false if it is in use already. */
export async function updateKeyAbandoned(sql: Queryable, entity: string): Promise<boolean> {
  const { count } = await sql`update volume_keys set sealed_key = 'abandoned'
    where entity = ${entity} and revoked and sealed_key = ''`;
  return count > 0;
}

/** The key is gone from the cluster. */
export async function removeKey(sql: Queryable, entity: string): Promise<void> {
  await sql`delete from volume_keys where entity = ${entity} and revoked`;
}

/** Wants keys for the disks of the pool that have none at all, for example because a scheduler was stopped in between. */
export async function wantMissingKeys(sql: Queryable, poolId: string): Promise<void> {
  const missing = sql`d.pool_id = ${poolId} and d.desired_state = 'present' and d.volume_id <> '' and not d.wants_key
    and not exists (select from volume_keys k where k.disk_id = d.id and not k.revoked)`;
  const locked = await sql<{ id: string }[]>`
    select d.id from disks d where ${missing} order by d.id for update skip locked`;
  if (locked.length === 0) return;
  await sql`select want_volume_keys(${locked.map(({ id }) => id)}::uuid[])`;
}

export type SealedKey = { entity: string; sealed_key: string };

export async function listSealedKeys(sql: Queryable, poolId: string): Promise<SealedKey[]> {
  return await sql<SealedKey[]>`
    select entity, sealed_key from volume_keys where pool_id = ${poolId} and not revoked`;
}

export async function updateSealedKey(
  sql: Queryable,
  { entity, from, to }: { entity: string; from: string; to: string },
): Promise<void> {
  await sql`update volume_keys set sealed_key = ${to} where entity = ${entity} and sealed_key = ${from}`;
}
