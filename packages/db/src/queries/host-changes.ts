import type { Queryable } from '../connect.ts';

/** How loops that keep up with hosts learn what has changed, however late a transaction commits. */

/** The oldest transaction that was still open: what it changes will have a number no smaller. */
export async function readOldestOpenXid(sql: Queryable): Promise<string> {
  const [row] = await sql<{ xmin: string }[]>`
    select pg_snapshot_xmin(pg_current_snapshot())::text as xmin`;
  return row?.xmin ?? '0';
}

type HostChange = { host_id: string; number: string; changed_xid: string };
export type HostChanges = { xmin: string; changed: HostChange[] };

/**
 * Hosts, of one location or of all, whose wanted state or what placement looks at was changed by
 * transactions no older than `since`, and the `since` of the next question. A transaction that
 * commits late was open before, so its number is not below that.
 */
export async function readHostChanges(
  sql: Queryable,
  { location, since }: { location: string | null; since: string },
): Promise<HostChanges> {
  const there =
    location === null
      ? sql`true`
      : sql`exists (select from hosts h where h.id = r.host_id and h.location = ${location})`;
  const rows = await sql<({ xmin: string } & (HostChange | { host_id: null }))[]>`
    select s.xmin::text, c.host_id, c.number, c.changed_xid::text
    from (select pg_snapshot_xmin(pg_current_snapshot()) as xmin) s
    left join (select r.host_id, r.number, r.changed_xid from host_revisions r
      where r.changed_xid >= ${since}::xid8 and ${there}) c on true`;
  const changed = rows.flatMap((row) => (row.host_id === null ? [] : [row]));
  return { xmin: rows[0]?.xmin ?? since, changed };
}
