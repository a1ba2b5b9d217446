import type { Queryable } from '../../connect.ts';

/** How loops find changed hosts, including those of transactions that commit late. */

/** Returns the oldest open transaction. Later changes have this transaction id or a greater one. */
export async function readOldestOpenXid(sql: Queryable): Promise<string> {
  const [row] = await sql<{ xmin: string }[]>`
    select pg_snapshot_xmin(pg_current_snapshot())::text as xmin`;
  return row?.xmin ?? '0';
}

/**
 * The transaction of a row is `since` or a later one. PostgreSQL takes a condition with one bound for a third
 * of all rows when it plans for all values, and one with two bounds for a few rows, which it reads by index.
 */
export const isSince = (sql: Queryable, column: ReturnType<Queryable>, since: string) =>
  sql`${column} between ${since}::xid8 and '18446744073709551615'`;

type Change = { host_id: string; changed_xid: string };
type Row = { xmin: string } & (Change | { host_id: null });

/**
 * Returns the hosts of a location that transactions from `since` on changed for placement, and the
 * `since` of the next call: the oldest transaction that is open now. A transaction that commits
 * late is open now, so the next call finds its changes.
 */
export async function readHostChanges(
  sql: Queryable,
  { location, since }: { location: string; since: string },
): Promise<{ xmin: string; changed: Change[] }> {
  const rows = await sql<Row[]>`
    select s.xmin::text, c.host_id, c.changed_xid::text
    from (select pg_snapshot_xmin(pg_current_snapshot()) as xmin) s
    left join (select r.host_id, r.changed_xid from host_revisions r where ${isSince(sql, sql`r.changed_xid`, since)}
      and exists (select from hosts h where h.id = r.host_id and h.location = ${location})) c on true`;
  const changed = rows.flatMap((row) => (row.host_id === null ? [] : [row]));
  return { xmin: rows[0]?.xmin ?? since, changed };
}
