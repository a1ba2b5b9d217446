import type { Queryable } from '../../connect.ts';
import { type Listing, listed } from '../listing.ts';

export type SshKeyRow = {
  id: string;
  name: string;
  public_key: string;
  tags: Record<string, string>;
  created_at: Date;
};

type SshKeyId = { projectId: string; sshKeyId: string };

const columns = (sql: Queryable) => sql`id, name, public_key, tags, created_at`;

/** Serialises the creation of SSH keys in the project. */
export async function lockSshKeysOfProject(sql: Queryable, projectId: string): Promise<void> {
  await sql`select from projects where id = ${projectId} for no key update`;
}

export async function countSshKeys(sql: Queryable, projectId: string): Promise<number> {
  const [row] = await sql<{ keys: number }[]>`
    select count(*)::int as keys from ssh_keys where project_id = ${projectId}`;
  return row?.keys ?? 0;
}

export async function insertSshKey(
  sql: Queryable,
  key: SshKeyRow & { projectId: string },
): Promise<void> {
  await sql`insert into ssh_keys (id, project_id, name, public_key, tags, created_at)
    values (${key.id}, ${key.projectId}, ${key.name}, ${key.public_key}, ${JSON.stringify(key.tags)}::text::jsonb,
      ${key.created_at})`;
}

export async function listSshKeys(sql: Queryable, listing: Listing): Promise<SshKeyRow[]> {
  return await sql<SshKeyRow[]>`select ${columns(sql)} from ssh_keys where ${listed(sql, listing)}`;
}

/** Returns undefined if the project has no such key. */
export async function updateSshKeyTags(
  sql: Queryable,
  { projectId, sshKeyId, tags }: SshKeyId & { tags: Record<string, string> },
): Promise<SshKeyRow | undefined> {
  const [row] = await sql<
    SshKeyRow[]
  >`update ssh_keys set tags = ${JSON.stringify(tags)}::text::jsonb
    where project_id = ${projectId} and id = ${sshKeyId} returning ${columns(sql)}`;
  return row;
}

export async function readSshKey(
  sql: Queryable,
  { projectId, sshKeyId }: SshKeyId,
): Promise<SshKeyRow | undefined> {
  const [row] = await sql<SshKeyRow[]>`select ${columns(sql)} from ssh_keys
    where project_id = ${projectId} and id = ${sshKeyId}`;
  return row;
}

/** Returns the public keys of the project by name, those that exist. */
export async function readPublicKeys(
  sql: Queryable,
  { projectId, names }: { projectId: string; names: string[] },
): Promise<Map<string, string>> {
  const rows = await sql<{ name: string; public_key: string }[]>`
    select name, public_key from ssh_keys where project_id = ${projectId} and name = any(${names}::text[])`;
  return new Map(rows.map(({ name, public_key }) => [name, public_key]));
}

export async function removeSshKey(
  sql: Queryable,
  { projectId, sshKeyId }: SshKeyId,
): Promise<SshKeyRow | undefined> {
  const [row] = await sql<SshKeyRow[]>`
    delete from ssh_keys where project_id = ${projectId} and id = ${sshKeyId} returning ${columns(sql)}`;
  return row;
}
