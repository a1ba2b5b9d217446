import type { Queryable } from '../../connect.ts';

export type LoginRow = { id: string; password_hash: string };

export async function readLogin(sql: Queryable, email: string): Promise<LoginRow | undefined> {
  const [row] = await sql<LoginRow[]>`select id, password_hash from users where email = ${email}`;
  return row;
}

export type NewRefreshToken = { hash: string; familyId: string; userId: string; expiresAt: Date };

export async function insertRefreshToken(sql: Queryable, token: NewRefreshToken): Promise<void> {
  await sql`insert into refresh_tokens (hash, family_id, user_id, expires_at)
    values (${token.hash}, ${token.familyId}, ${token.userId}, ${token.expiresAt})`;
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

/** A token that is used twice may be stolen, so all tokens of its login are revoked. */
export async function revokeFamilyOf(sql: Queryable, hash: string): Promise<void> {
  await sql`update refresh_tokens set revoked_at = now()
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
