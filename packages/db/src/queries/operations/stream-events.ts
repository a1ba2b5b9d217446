import type { StreamEventType } from '@gantry/model/states';
import type { Queryable } from '../../connect.ts';

/**
 * Reads for the event stream. Rows are read in the order of (xid, number), and only those of transactions
 * before the horizon, which is the oldest open transaction: see the table `stream_events`.
 */

/** A place in the order of all stream events. */
export type StreamPosition = { xid: bigint; number: bigint };

export type StreamEventRow = {
  position: StreamPosition;
  /** Null: only operators see it. */
  projectId: string | null;
  type: StreamEventType;
  data: object;
  createdAt: Date;
};

/** What the positions of streams are compared with. */
export type StreamState = {
  era: string;
  /** Events of earlier transactions were removed. */
  since: bigint;
  horizon: bigint;
};

type Row = {
  era: string;
  since: string;
  horizon: string;
  xid: string | null;
  number: string;
  project_id: string | null;
  type: StreamEventType;
  data: object;
  created_at: Date;
};

const columns = (sql: Queryable) =>
  sql`e.xid, e.number, e.project_id, e.type, e.data, e.created_at`;

function toEvent({ xid, number, project_id, type, data, created_at }: Row): StreamEventRow {
  const position = { xid: BigInt(xid ?? 0), number: BigInt(number) };
  return { position, projectId: project_id, type, data, createdAt: created_at };
}

/**
 * Returns the events after a position, of some projects or of all if `projectIds` is null, and the state
 * of the same moment. Without a position it returns the state alone.
 */
export async function readStreamEvents(
  sql: Queryable,
  {
    after,
    projectIds,
    types = [],
    limit,
  }: {
    after: StreamPosition | null;
    projectIds: readonly string[] | null;
    /** Empty: all types. */
    types?: readonly StreamEventType[];
    limit: number;
  },
): Promise<StreamState & { events: StreamEventRow[] }> {
  const ofProjects =
    projectIds === null ? sql`true` : sql`e.project_id = any(${[...projectIds]}::uuid[])`;
  const ofTypes = types.length === 0 ? sql`true` : sql`e.type = any(${[...types]}::text[])`;
  const rows = await sql<Row[]>`
    select s.era, s.since::text, s.horizon::text, e.xid::text, e.number, e.project_id, e.type, e.data, e.created_at
    from (select era, stream_since as since, pg_snapshot_xmin(pg_current_snapshot()) as horizon from installation) s
    left join lateral (select ${columns(sql)} from stream_events e
      where e.xid < s.horizon and ${ofProjects} and ${ofTypes}
        and (e.xid, e.number) > (coalesce(${after && String(after.xid)}::text::xid8, s.horizon), ${String(after?.number ?? 0n)}::bigint)
      order by e.xid, e.number limit ${limit}) e on true
    order by e.xid, e.number`;
  const [first] = rows;
  if (!first) throw new Error('BUG: the table installation is empty');
  return {
    era: first.era,
    since: BigInt(first.since),
    horizon: BigInt(first.horizon),
    events: rows.flatMap((row) => (row.xid === null ? [] : [toEvent(row)])),
  };
}

/** The events that streams of one project, or of operators if it is null, have not got yet. */
export type MissedRange = { projectId: string | null; after: StreamPosition };

/**
 * Returns for each range its first events, in their order, up to a position that all live streams have
 * reached. One statement reads for all streams that catch up.
 */
export async function readMissedEvents(
  sql: Queryable,
  { ranges, upTo, limit }: { ranges: readonly MissedRange[]; upTo: StreamPosition; limit: number },
): Promise<StreamEventRow[][]> {
  const rows = await sql<(Row & { range: number })[]>`
    select r.range::int, e.xid::text, e.number, e.project_id, e.type, e.data, e.created_at
    from unnest(${ranges.map(({ projectId }) => projectId ?? '')}::text[],
        ${ranges.map(({ after }) => String(after.xid))}::text[], ${ranges.map(({ after }) => String(after.number))}::text[])
      with ordinality as r (project_id, xid, number, range)
    cross join lateral (
      (select ${columns(sql)} from stream_events e where r.project_id <> '' and e.project_id = nullif(r.project_id, '')::uuid
        and ${isMissed(sql, upTo)} order by e.xid, e.number limit ${limit})
      union all
      (select ${columns(sql)} from stream_events e where r.project_id = '' and ${isMissed(sql, upTo)}
        order by e.xid, e.number limit ${limit})) e
    order by r.range, e.xid, e.number`;
  return ranges.map((_, index) =>
    rows.filter(({ range }) => range === index + 1).map((row) => toEvent(row)),
  );
}

const isMissed = (sql: Queryable, { xid, number }: StreamPosition) =>
  sql`(e.xid, e.number) > (r.xid::xid8, r.number::bigint)
    and (e.xid, e.number) <= (${String(xid)}::text::xid8, ${String(number)}::bigint)`;
