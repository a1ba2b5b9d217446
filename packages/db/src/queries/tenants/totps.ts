import type { Queryable } from '../../connect.ts';

export type TotpRow = {
  sealed_secret: string;
  confirmed: boolean;
  last_step: number;
  recovery_hashes: string[];
};

const columns = (sql: Queryable) => sql`
  sealed_secret, confirmed, last_step::float8 as last_step, recovery_hashes`;

export async function readTotp(sql: Queryable, userId: string): Promise<TotpRow | undefined> {
  const [row] = await sql<TotpRow[]>`
    select ${columns(sql)} from user_totps where user_id = ${userId}`;
  return row;
}

/** The lock makes concurrent uses of one code wait for each other. */
export async function lockTotp(sql: Queryable, userId: string): Promise<TotpRow | undefined> {
  const [row] = await sql<TotpRow[]>`
    select ${columns(sql)} from user_totps where user_id = ${userId} for update`;
  return row;
}

/** Replaces a secret that is not confirmed. Returns false if there is a confirmed one. */
export async function insertTotp(
  sql: Queryable,
  { userId, sealedSecret }: { userId: string; sealedSecret: string },
): Promise<boolean> {
  const rows = await sql`
    insert into user_totps as t (user_id, sealed_secret) values (${userId}, ${sealedSecret})
    on conflict (user_id) do update set sealed_secret = excluded.sealed_secret, last_step = 0
    where not t.confirmed returning user_id`;
  return rows.length > 0;
}

export async function confirmTotp(
  sql: Queryable,
  { userId, step, recoveryHashes }: { userId: string; step: number; recoveryHashes: string[] },
): Promise<void> {
  await sql`update user_totps set confirmed = true, last_step = ${step}, recovery_hashes = ${recoveryHashes}
    where user_id = ${userId}`;
}

export async function recordTotpStep(
  sql: Queryable,
  { userId, step }: { userId: string; step: number },
): Promise<void> {
  await sql`update user_totps set last_step = ${step} where user_id = ${userId}`;
}

/** Uses up a recovery code. Returns false if the user has no such code. */
export async function claimRecoveryCode(
  sql: Queryable,
  { userId, hash }: { userId: string; hash: string },
): Promise<boolean> {
  const rows =
    await sql`update user_totps set recovery_hashes = array_remove(recovery_hashes, ${hash})
    where user_id = ${userId} and ${hash} = any(recovery_hashes) returning user_id`;
  return rows.length > 0;
}

export async function removeTotp(sql: Queryable, userId: string): Promise<boolean> {
  const rows = await sql`delete from user_totps where user_id = ${userId} returning user_id`;
  return rows.length > 0;
}
