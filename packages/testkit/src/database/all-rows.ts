import type { Sql } from '@gantry/db/connect';

/** The api notes in the background, some time after a request, that a key was used. */
const WRITTEN_LATER = 'access_key_uses';

/**
 * Returns every row, with its version, of every table that a report can change: equal only if
 * nothing was written.
 */
export async function allRows(sql: Sql): Promise<Record<string, unknown[]>> {
  const tables = await sql<{ name: string }[]>`
    select tablename as name from pg_tables where schemaname = 'public' and tablename <> ${WRITTEN_LATER} order by 1`;
  const rows: Record<string, unknown[]> = {};
  for (const { name } of tables)
    rows[name] = [
      ...(await sql`select t.ctid::text as version, t.* from ${sql(name)} t order by t.ctid`),
    ];
  return rows;
}
