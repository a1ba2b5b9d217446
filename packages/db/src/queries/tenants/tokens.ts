import type { Queryable } from '../../connect.ts';

/**
 * Returns the present generation of the user's tokens. The lock makes a transaction that ends all
 * logins wait, so that it also ends the one that this transaction makes. It is taken before any lock
 * on a refresh token.
 */
export async function lockTokenGeneration(
  sql: Queryable,
  userId: string,
): Promise<number | undefined> {
  const [row] = await sql<{ generation: number }[]>`
    select token_generation::float8 as generation from users where id = ${userId} for share`;
  return row?.generation;
}

export type NewRefreshToken = {
  hash: string;
  familyId: string;
  userId: string;
  expiresAt: Date;
  sourceIp: string;
  userAgent: string;
};

export async function insertRefreshToken(sql: Queryable, token: NewRefreshToken): Promise<void> {
  await sql`insert into refresh_tokens (hash, family_id, user_id, expires_at, source_ip, user_agent)
    values (${token.hash}, ${token.familyId}, ${token.userId}, ${token.expiresAt}, ${token.sourceIp}, ${token.userAgent})`;
}

/** Uses up a refresh token. If it is used twice at once, exactly one call gets the row. */
export async function claimRefreshToken(
  sql: Queryable,
  hash: string,
): Promise<{ family_id: string; user_id: string } | undefined> {
  const [row] = await sql<{ family_id: string; user_id: string }[]>`
    update refresh_tokens set used_at = now()
    where hash = ${hash} and used_at is null and revoked_at is null and expires_at > now()
    returning family_id, user_id`;
  return row;
}

/** Returns the user of a token, whatever its state. */
export async function readRefreshTokenUser(
  sql: Queryable,
  hash: string,
): Promise<{ id: string; email: string } | undefined> {
  const [row] = await sql<{ id: string; email: string }[]>`
    select u.id, u.email from refresh_tokens t join users u on u.id = t.user_id where t.hash = ${hash}`;
  return row;
}

/** A token that is used twice may be stolen, so all tokens of its login are revoked. */
export async function revokeFamilyOf(sql: Queryable, hash: string): Promise<void> {
  await sql`update refresh_tokens set revoked_at = now(), login_ended_at = now()
    where revoked_at is null
      and family_id = (select family_id from refresh_tokens where hash = ${hash} and used_at is not null)`;
}

export type SigningKeyRow = {
  id: string;
  public_key: unknown;
  sealed_private_key: string;
  created_at: Date;
};

/**
 * Returns the newest key first, then those that are younger than `maxAgeMs` by the database's
 * clock.
 */
export async function readSigningKeys(sql: Queryable, maxAgeMs: number): Promise<SigningKeyRow[]> {
  return await sql<SigningKeyRow[]>`
    select id, public_key, sealed_private_key, created_at from signing_keys
    where created_at > now() - ${maxAgeMs}::float8 * interval '1 millisecond'
      or number = (select max(number) from signing_keys)
    order by number desc`;
}

export async function readSigningKeyIds(sql: Queryable): Promise<Set<string>> {
  const rows = await sql<{ id: string }[]>`select id from signing_keys`;
  return new Set(rows.map(({ id }) => id));
}

export type ListedSigningKey = { id: string; created_at: Date };

/** Newest first: the first one signs. */
export async function listSigningKeys(sql: Queryable): Promise<ListedSigningKey[]> {
  return await sql<ListedSigningKey[]>`
    select id, created_at from signing_keys order by number desc`;
}

export async function removeSigningKey(
  sql: Queryable,
  id: string,
): Promise<ListedSigningKey | undefined> {
  const [row] = await sql<ListedSigningKey[]>`
    delete from signing_keys where id = ${id} returning id, created_at`;
  return row;
}

/**
 * Adds a key, unless there is one that is younger than `unlessYoungerMs`; null adds it in any case.
 * Two processes may both add a key at once. Both keys verify tokens.
 */
export async function insertSigningKey(
  sql: Queryable,
  key: {
    id: string;
    publicKey: object;
    sealedPrivateKey: string;
    unlessYoungerMs: number | null;
  },
): Promise<void> {
  await sql`
    insert into signing_keys (id, public_key, sealed_private_key)
    select ${key.id}::uuid, ${sql.json({ ...key.publicKey })}, ${key.sealedPrivateKey}
    where ${key.unlessYoungerMs}::float8 is null or not exists (select from signing_keys
      where created_at > now() - ${key.unlessYoungerMs}::float8 * interval '1 millisecond')`;
}
