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

export function direction(sql: Queryable, { newestFirst = false }: { newestFirst?: boolean }) {
  return newestFirst ? sql`desc` : sql`asc`;
}
