import type { Sql } from '@gantry/db/connect';

/** Maps each table to a digest of all its rows. */
export type Digest = Record<string, string>;

/**
 * The tables that a refused request may change: the audit log, revoked logins, stored replies, budgets
 * of logins and the last uses of keys.
 */
const EXCEPT = [
  ...['audit_logs', 'refresh_tokens', 'idempotency_keys'],
  ...['login_budgets', 'access_key_uses'],
];

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
