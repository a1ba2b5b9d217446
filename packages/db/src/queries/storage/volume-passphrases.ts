import type { Queryable } from '../../connect.ts';

/** The passphrases of encrypted volumes. The caller has locked the lease of the location. */

export type NewPassphrase = { diskId: string; poolId: string; sealed: string };

/**
 * Stores a passphrase unless the volume has one, and returns the one that it has. Stores none for a disk that was removed
 * meanwhile, because nothing would destroy it; then it returns undefined.
 */
export async function ensurePassphrase(
  sql: Queryable,
  { diskId, poolId, sealed }: NewPassphrase,
): Promise<string | undefined> {
  await sql`insert into volume_passphrases (disk_id, pool_id, sealed_passphrase)
    select id, ${poolId}, ${sealed} from disks where id = ${diskId} on conflict do nothing`;
  const [row] = await sql<{ sealed: string }[]>`
    select sealed_passphrase as sealed from volume_passphrases where disk_id = ${diskId}`;
  return row?.sealed;
}

/**
 * Gives the volume of a disk the passphrase of another one, because it becomes a copy of it. Returns undefined if the
 * other one has none, or if the disk was removed meanwhile.
 */
export async function copyPassphrase(
  sql: Queryable,
  { diskId, poolId, fromDiskId }: { diskId: string; poolId: string; fromDiskId: string },
): Promise<string | undefined> {
  const [from] = await sql<{ sealed: string }[]>`
    select sealed_passphrase as sealed from volume_passphrases where disk_id = ${fromDiskId}`;
  return from && (await ensurePassphrase(sql, { diskId, poolId, sealed: from.sealed }));
}

/** Destroys the passphrase of a disk if nothing is left that it opens: no disk, no volume, no backup. */
export async function removeUnusedPassphrase(sql: Queryable, diskId: string): Promise<void> {
  await sql`delete from volume_passphrases p where p.disk_id = ${diskId}
    and not exists (select from disks d where d.id = p.disk_id)
    and not exists (select from discarded_volumes v where v.disk_id = p.disk_id)
    and not exists (select from backups b where b.disk_id = p.disk_id)`;
}

export type SealedPassphrase = { disk_id: string; sealed: string };

export async function listSealedPassphrases(
  sql: Queryable,
  poolId: string,
): Promise<SealedPassphrase[]> {
  return await sql<SealedPassphrase[]>`
    select disk_id, sealed_passphrase as sealed from volume_passphrases where pool_id = ${poolId} order by disk_id`;
}

export async function updateSealedPassphrase(
  sql: Queryable,
  { diskId, from, to }: { diskId: string; from: string; to: string },
): Promise<void> {
  await sql`update volume_passphrases set sealed_passphrase = ${to}
    where disk_id = ${diskId} and sealed_passphrase = ${from}`;
}
