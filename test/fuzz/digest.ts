import type { Sql } from '@gantry/db/connect';

/** Table -> digest of all its rows. */
export type Digest = Record<string, string>;

/** What a refusal may leave behind: its line in the log, a revoked login, a forgotten first reply. */
const EXCEPT = ['audit_logs', 'refresh_tokens', 'idempotency_keys'];

export async function digestRows(sql: Sql): Promise<Digest> {
  const [row] = await sql<{ digest: Digest }[]>`
    select json_object_agg(table_name, (xpath('/row/d/text()', query_to_xml(format(
      'select md5(coalesce(string_agg(t::text, chr(10) order by t::text), '''')) as d from %I t', table_name),
      false, true, '')))[1]::text) as digest
    from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE' and table_name <> all(${EXCEPT}::text[])`;
  if (!row) throw new Error('the database has no tables');
  return row.digest;
}
