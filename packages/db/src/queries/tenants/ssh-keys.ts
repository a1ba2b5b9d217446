import type { Queryable } from '../../connect.ts';
import { FIRST_ID } from '../page-bounds.ts';

export type SshKeyRow = { id: string; name: string; public_key: string; created_at: Date };

type SshKeyId = { projectId: string; sshKeyId: string };

const columns = (sql: Queryable) => sql`id, name, public_key, created_at`;

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
  await sql`insert into ssh_keys (id, project_id, name, public_key, created_at)
    values (${key.id}, ${key.projectId}, ${key.name}, ${key.public_key}, ${key.created_at})`;
}

export async function listSshKeys(
  sql: Queryable,
  { projectId, after, limit }: { projectId: string; after: string | null; limit: number },
): Promise<SshKeyRow[]> {
  return await sql<SshKeyRow[]>`select ${columns(sql)} from ssh_keys
    where project_id = ${projectId} and id > ${after ?? FIRST_ID} order by id limit ${limit}`;
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
