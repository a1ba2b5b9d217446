import type { Queryable } from '../../connect.ts';
import { type Listing, listed } from '../listing.ts';

export type NewAccessKey = {
  id: string;
  projectId: string;
  name: string;
  role: 'member' | 'read-only';
  hash: string;
  createdAt: Date;
  expiresAt: Date | null;
  createdBy: string | null;
  parentId: string | null;
  tags?: Record<string, string>;
};

export async function insertAccessKey(sql: Queryable, key: NewAccessKey): Promise<void> {
  await sql`insert into access_keys
      (id, project_id, name, role, hash, created_at, expires_at, created_by, parent_id, tags)
    values (${key.id}, ${key.projectId}, ${key.name}, ${key.role}, ${key.hash}, ${key.createdAt},
      ${key.expiresAt}, ${key.createdBy}, ${key.parentId},
      ${JSON.stringify(key.tags ?? {})}::text::jsonb)`;
}

export type AccessKeyRow = {
  id: string;
  name: string;
  role: 'member' | 'read-only';
  created_at: Date;
  expires_at: Date | null;
  created_by: string | null;
  /** The e-mail address of `created_by`. */
  creator: string | null;
  parent_id: string | null;
  last_used_at: Date | null;
  last_used_ip: string;
  tags: Record<string, string>;
};

const columns = (sql: Queryable) => sql`
  k.id, k.name, k.role, k.created_at, k.expires_at, k.created_by, k.parent_id, k.tags,
  (select u.email from users u where u.id = k.created_by) as creator,
  (select l.used_at from access_key_uses l where l.access_key_id = k.id) as last_used_at,
  coalesce((select l.source_ip from access_key_uses l where l.access_key_id = k.id), '') as last_used_ip`;

export async function listAccessKeys(sql: Queryable, listing: Listing): Promise<AccessKeyRow[]> {
  return await sql<AccessKeyRow[]>`
    select ${columns(sql)} from access_keys k where ${listed(sql, listing)}`;
}

export async function readAccessKey(sql: Queryable, id: string): Promise<AccessKeyRow | undefined> {
  const [row] = await sql<AccessKeyRow[]>`
    select ${columns(sql)} from access_keys k where k.id = ${id}`;
  return row;
}

/** Returns undefined if the project has no such key. */
export async function updateAccessKeyTags(
  sql: Queryable,
  {
    projectId,
    accessKeyId,
    tags,
  }: { projectId: string; accessKeyId: string; tags: Record<string, string> },
): Promise<AccessKeyRow | undefined> {
  const [row] = await sql<AccessKeyRow[]>`
    update access_keys k set tags = ${JSON.stringify(tags)}::text::jsonb
    where k.project_id = ${projectId} and k.id = ${accessKeyId} returning ${columns(sql)}`;
  return row;
}

export type KeyUse = { id: string; at: Date; ip: string };

/** A use within a minute of the recorded one is not written, unless it is from another address. */
export async function recordKeyUses(sql: Queryable, uses: readonly KeyUse[]): Promise<void> {
  // The order prevents deadlocks with other api processes that write the same rows.
  await sql`
    insert into access_key_uses as l (access_key_id, used_at, source_ip)
    select k.id, u.at::timestamptz, u.ip
    from unnest(${uses.map(({ id }) => id)}::uuid[], ${uses.map(({ at }) => at.toISOString())}::text[],
      ${uses.map(({ ip }) => ip)}::text[]) as u (id, at, ip)
    join access_keys k on k.id = u.id
    order by k.id
    on conflict (access_key_id) do update set used_at = excluded.used_at, source_ip = excluded.source_ip
    where l.used_at < excluded.used_at - interval '1 minute'
      or (l.used_at < excluded.used_at and l.source_ip <> excluded.source_ip)`;
}

export async function removeAccessKey(
  sql: Queryable,
  { projectId, accessKeyId }: { projectId: string; accessKeyId: string },
): Promise<AccessKeyRow | undefined> {
  const [row] = await sql<AccessKeyRow[]>`
    delete from access_keys k where k.project_id = ${projectId} and k.id = ${accessKeyId}
    returning ${columns(sql)}`;
  return row;
}
