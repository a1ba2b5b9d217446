import type { Queryable } from '../connect.ts';
import {
  beyond,
  direction,
  inPage,
  type NamedPageBounds,
  type PageBounds,
  pageOrder,
} from './page-bounds.ts';

/** What every list of a project's resources can be filtered by. Null: it is not filtered. */
export type Listing = NamedPageBounds & {
  projectId: string;
  ids: string[] | null;
  names: string[] | null;
  /** Each element is one tag; a resource must have all of them. */
  tags?: Record<string, string>[];
  /** Null: all. */
  limit: number | null;
};

/**
 * The condition, the order and the limit of a list. Quotas and limits bound what a project has in these tables, so the
 * index on the project and the name is enough for every filter and both orders.
 */
export function listed(sql: Queryable, listing: Listing) {
  const { projectId, ids, names, tags = [], limit } = listing;
  return sql`project_id = ${projectId} and ${inPage(sql, listing)}
    ${ids === null ? sql`` : sql`and id = any(${ids}::uuid[])`}
    ${names === null ? sql`` : sql`and name = any(${names}::text[])`}
    ${tags.length === 0 ? sql`` : tags.map((tag) => sql`and tags @> ${JSON.stringify(tag)}::text::jsonb`)}
    order by ${pageOrder(sql, listing)} ${limit === null ? sql`` : sql`limit ${limit}`}`;
}

/** What lists of operators and users can be filtered by. Null: it is not filtered. */
export type IdListing = PageBounds & {
  ids: string[] | null;
  names?: string[] | null;
  limit: number;
};

/** The condition of such a list. `table` is the prefix of the columns, such as `h.`. */
export function listedByIds(sql: Queryable, listing: IdListing, table = sql``) {
  const { ids, names = null } = listing;
  return sql`${table}id ${beyond(sql, listing)}
    ${ids === null ? sql`` : sql`and ${table}id = any(${ids}::uuid[])`}
    ${names === null ? sql`` : sql`and ${table}name = any(${names}::text[])`}`;
}

/** The order and the limit of such a list. */
export function idOrder(sql: Queryable, listing: IdListing, table = sql``) {
  return sql`order by ${table}id ${direction(sql, listing)} limit ${listing.limit}`;
}

type NamedTable = 'networks' | 'subnets' | 'reserved_addresses' | 'snapshots' | 'backups';
type TaggedTable = NamedTable | 'disks' | 'firewall_rules';

/** The caller has made sure that the resource belongs to the project, and holds its lock. */
export async function replaceTags(
  sql: Queryable,
  { table, id, tags }: { table: TaggedTable; id: string; tags: Record<string, string> },
): Promise<void> {
  await sql`update ${sql(table)} set tags = ${JSON.stringify(tags)}::text::jsonb where id = ${id}`;
}

type Relabeling = {
  table: NamedTable;
  projectId: string;
  id: string;
  /** Without a value, it stays as it is. */
  name?: string | undefined;
  tags?: Record<string, string> | undefined;
};

/** Changes nothing if the project has no such resource. */
export async function updateNameAndTags(
  sql: Queryable,
  { table, projectId, id, name, tags }: Relabeling,
): Promise<void> {
  await sql`update ${sql(table)} set name = coalesce(${name ?? null}, name),
      tags = coalesce(${tags === undefined ? null : JSON.stringify(tags)}::text::jsonb, tags)
    where project_id = ${projectId} and id = ${id}`;
}
