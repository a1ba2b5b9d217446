import type { Queryable } from '../../connect.ts';

/** How loops find changed hosts, including those of transactions that commit late. */

/** Returns the oldest open transaction. Later changes have this transaction id or a greater one. */
export async function readOldestOpenXid(sql: Queryable): Promise<string> {
  const [row] = await sql<{ xmin: string }[]>`
    select pg_snapshot_xmin(pg_current_snapshot())::text as xmin`;
  return row?.xmin ?? '0';
}

type Changes<Change> = { xmin: string; changed: Change[] };
type Row<Change> = { xmin: string } & (Change | { host_id: null });

/**
 * Returns the hosts of a location that transactions from `since` on changed for placement, and the
 * `since` of the next call: the oldest transaction that is open now. A transaction that commits
 * late is open now, so the next call finds its changes.
 */
export async function readHostChanges(
  sql: Queryable,
  { location, since }: { location: string; since: string },
): Promise<Changes<{ host_id: string; changed_xid: string }>> {
  const rows = await sql<Row<{ host_id: string; changed_xid: string }>[]>`
    select s.xmin::text, c.host_id, c.changed_xid::text
    from (select pg_snapshot_xmin(pg_current_snapshot()) as xmin) s
    left join (select r.host_id, r.changed_xid from host_revisions r where r.changed_xid >= ${since}::xid8
      and exists (select from hosts h where h.id = r.host_id and h.location = ${location})) c on true`;
  return toChanges(rows, since);
}

/** `own_number` is the number after the last change that was not only a VM on another host. */
export type SpecChange = { host_id: string; number: string; own_number: string };

/** Returns the hosts whose spec may have changed since then. */
export async function readSpecChanges(
  sql: Queryable,
  { since }: { since: string },
): Promise<Changes<SpecChange>> {
  const rows = await sql<Row<SpecChange>[]>`
    select s.xmin::text, c.host_id, c.number, c.own_number
    from (select pg_snapshot_xmin(pg_current_snapshot()) as xmin) s
    left join (select host_id, number, own_number from host_revisions where changed_xid >= ${since}::xid8
      union select host_id, number, own_number from host_revisions where peers_xid >= ${since}::xid8) c on true`;
  return toChanges(rows, since);
}

function toChanges<Change extends { host_id: string }>(
  rows: readonly Row<Change>[],
  since: string,
): Changes<Change> {
  const changed = rows.flatMap((row) => (row.host_id === null ? [] : [row as Change]));
  return { xmin: rows[0]?.xmin ?? since, changed };
}
