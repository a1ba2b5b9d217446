import type { Sql } from '@gantry/db/connect';

/** Every row of every table a report can change, with the version of each: equal only if nothing was written. */
export async function allRows(sql: Sql): Promise<Record<string, unknown[]>> {
  const tables = await sql<{ name: string }[]>`
    select tablename as name from pg_tables where schemaname = 'public' order by 1`;
  const rows: Record<string, unknown[]> = {};
  for (const { name } of tables)
    rows[name] = [
      ...(await sql`select t.ctid::text as version, t.* from ${sql(name)} t order by t.ctid`),
    ];
  return rows;
}
