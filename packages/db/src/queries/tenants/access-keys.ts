import type { Queryable } from '../../connect.ts';

export type NewAccessKey = {
  id: string;
  projectId: string;
  name: string;
  role: 'member' | 'read-only';
  hash: string;
  createdAt: Date;
  expiresAt: Date | null;
};

export async function insertAccessKey(sql: Queryable, key: NewAccessKey): Promise<void> {
  await sql`insert into access_keys (id, project_id, name, role, hash, created_at, expires_at)
    values (${key.id}, ${key.projectId}, ${key.name}, ${key.role}, ${key.hash}, ${key.createdAt}, ${key.expiresAt})`;
}

export type AccessKeyRow = {
  id: string;
  name: string;
  role: 'member' | 'read-only';
  created_at: Date;
  expires_at: Date | null;
};

export async function listAccessKeys(sql: Queryable, projectId: string): Promise<AccessKeyRow[]> {
  return await sql<AccessKeyRow[]>`
    select id, name, role, created_at, expires_at from access_keys
    where project_id = ${projectId} order by id`;
}

export async function removeAccessKey(
  sql: Queryable,
  { projectId, accessKeyId }: { projectId: string; accessKeyId: string },
): Promise<AccessKeyRow | undefined> {
  const [row] = await sql<AccessKeyRow[]>`
    delete from access_keys where project_id = ${projectId} and id = ${accessKeyId}
    returning id, name, role, created_at, expires_at`;
  return row;
}
