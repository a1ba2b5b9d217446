import type { Queryable } from '../../connect.ts';
import { inPage, type NamedPageBounds, pageOrder } from '../page-bounds.ts';
import type { SshKeyRow } from './ssh-keys.ts';

/** A user's own key has no tags. */
export type UserSshKeyRow = Omit<SshKeyRow, 'tags'>;

type UserSshKeyId = { userId: string; sshKeyId: string };

const columns = (sql: Queryable) => sql`id, name, public_key, created_at`;

/** Serialises the creation of the user's SSH keys. */
export async function lockSshKeysOfUser(sql: Queryable, userId: string): Promise<void> {
  await sql`select from users where id = ${userId} for no key update`;
}

export async function countUserSshKeys(sql: Queryable, userId: string): Promise<number> {
  const [row] = await sql<{ keys: number }[]>`
    select count(*)::int as keys from user_ssh_keys where user_id = ${userId}`;
  return row?.keys ?? 0;
}

export async function insertUserSshKey(
  sql: Queryable,
  key: UserSshKeyRow & { userId: string },
): Promise<void> {
  await sql`insert into user_ssh_keys (id, user_id, name, public_key, created_at)
    values (${key.id}, ${key.userId}, ${key.name}, ${key.public_key}, ${key.created_at})`;
}

export type UserSshKeyListing = NamedPageBounds & {
  userId: string;
  ids: string[] | null;
  names: string[] | null;
  limit: number;
};

export async function listUserSshKeys(
  sql: Queryable,
  { userId, ids, names, limit, ...page }: UserSshKeyListing,
): Promise<UserSshKeyRow[]> {
  return await sql<UserSshKeyRow[]>`select ${columns(sql)} from user_ssh_keys
    where user_id = ${userId} and ${inPage(sql, page)}
      ${ids === null ? sql`` : sql`and id = any(${ids}::uuid[])`}
      ${names === null ? sql`` : sql`and name = any(${names}::text[])`}
    order by ${pageOrder(sql, page)} limit ${limit}`;
}

export async function readUserSshKey(
  sql: Queryable,
  { userId, sshKeyId }: UserSshKeyId,
): Promise<UserSshKeyRow | undefined> {
  const [row] = await sql<UserSshKeyRow[]>`select ${columns(sql)} from user_ssh_keys
    where user_id = ${userId} and id = ${sshKeyId}`;
  return row;
}

/** Returns the public keys of the user by name, those that exist. */
export async function readPublicKeysOfUser(
  sql: Queryable,
  { userId, names }: { userId: string; names: string[] },
): Promise<Map<string, string>> {
  const rows = await sql<{ name: string; public_key: string }[]>`
    select name, public_key from user_ssh_keys where user_id = ${userId} and name = any(${names}::text[])`;
  return new Map(rows.map(({ name, public_key }) => [name, public_key]));
}

export async function removeUserSshKey(
  sql: Queryable,
  { userId, sshKeyId }: UserSshKeyId,
): Promise<UserSshKeyRow | undefined> {
  const [row] = await sql<UserSshKeyRow[]>`
    delete from user_ssh_keys where user_id = ${userId} and id = ${sshKeyId} returning ${columns(sql)}`;
  return row;
}
