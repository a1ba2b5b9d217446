import type { Queryable } from '../connect.ts';

/**
 * Cursors of the first page: ids before and after all others. With them every page reads one range
 * of the index and has the same cost. A condition such as "cursor is null or …" would read the
 * whole index.
 */
export const FIRST_ID = '00000000-0000-0000-0000-000000000000';
export const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** A page of a list whose ids are in the order of creation. */
export type PageBounds = {
  /** The last id of the previous page; null for the first page. */
  after: string | null;
  /** Otherwise the oldest comes first. */
  newestFirst?: boolean;
};

/** The end of a condition about an id: `id ${beyond(sql, page)}`. */
export function beyond(sql: Queryable, { after, newestFirst = false }: PageBounds) {
  return newestFirst ? sql`< ${after ?? LAST_ID}` : sql`> ${after ?? FIRST_ID}`;
}

/** A page of a list that can also be sorted by name. */
export type NamedPageBounds = PageBounds & {
  /** Otherwise it is sorted by id. With `newestFirst`, the last name comes first. */
  byName?: boolean;
  /** The name of the last item of the previous page, whose id is `after`. Names need not be unique. */
  afterName?: string | null;
};

/** The condition of a page. `table` is the prefix of the columns, such as `v.`. */
export function inPage(sql: Queryable, page: NamedPageBounds, table = sql``) {
  const { byName = false, after, afterName = null, newestFirst = false } = page;
  if (!byName) return sql`${table}id ${beyond(sql, page)}`;
  if (after === null) return sql`true`;
  return newestFirst
    ? sql`(${table}name, ${table}id) < (${afterName}, ${after})`
    : sql`(${table}name, ${table}id) > (${afterName}, ${after})`;
}

/** What follows `order by`. */
export function pageOrder(sql: Queryable, page: NamedPageBounds, table = sql``) {
  const toward = direction(sql, page);
  return page.byName
    ? sql`${table}name ${toward}, ${table}id ${toward}`
    : sql`${table}id ${toward}`;
}

export function direction(sql: Queryable, { newestFirst = false }: { newestFirst?: boolean }) {
  return newestFirst ? sql`desc` : sql`asc`;
}
