import type { Queryable } from '../../connect.ts';

/** The images of the catalogue in pools. */

export type PoolImageRow = { volume_id: string; problem: string };

export async function readPoolImage(
  sql: Queryable,
  { poolId, sha256 }: { poolId: string; sha256: string },
): Promise<PoolImageRow | undefined> {
  const [row] = await sql<PoolImageRow[]>`
    select volume_id, problem from pool_images where pool_id = ${poolId} and sha256 = ${sha256}`;
  return row;
}

/** The row is written before the volume of the image is created. */
export async function insertPoolImage(
  sql: Queryable,
  { poolId, sha256 }: { poolId: string; sha256: string },
): Promise<void> {
  await sql`insert into pool_images (pool_id, sha256) values (${poolId}, ${sha256}) on conflict do nothing`;
}

export async function updatePoolImageReady(
  sql: Queryable,
  image: { poolId: string; sha256: string; volumeId: string; sizeGib: number },
): Promise<void> {
  await sql`update pool_images set volume_id = ${image.volumeId}, size_gib = ${image.sizeGib}, problem = ''
    where pool_id = ${image.poolId} and sha256 = ${image.sha256}`;
}

export async function updatePoolImageProblem(
  sql: Queryable,
  { poolId, sha256, problem }: { poolId: string; sha256: string; problem: string },
): Promise<void> {
  await sql`update pool_images set problem = ${problem} where pool_id = ${poolId} and sha256 = ${sha256}`;
}
