import type { Queryable } from '../connect.ts';

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
