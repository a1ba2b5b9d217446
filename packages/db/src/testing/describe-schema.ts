import type { Sql } from '../connect.ts';

/**
 * Describes the schema `public` of a database as SQL: tables, indexes, functions and triggers, each
 * in the order of their names. The text comes from the catalogue, so that it is the same for every
 * server version and however the database was migrated. pg_dump is not used, because one binary
 * does not dump both the oldest and the newest server that Gantry supports, and its output changes
 * with its version.
 */
export async function describeSchema(sql: Sql): Promise<string> {
  const tables = await describeTables(sql);
  const functions = await describeFunctions(sql);
  return `${[HEADER, ...tables, ...functions].join('\n\n')}\n`;
}

const HEADER = `-- The schema of a migrated database. Generated: run "npm run gen:schema" after a change of
-- packages/db/src/schema, packages/db/migrations or packages/db/sql. Do not edit.`;

type Table = { name: string; lines: string[]; statements: string[] };

async function describeTables(sql: Sql): Promise<string[]> {
  const tables = await sql<Table[]>`
    select c.relname as name,
      array(select format('%I %s', a.attname, format_type(a.atttypid, a.atttypmod))
          || case when a.attgenerated = 's' then format(' generated always as (%s) stored', pg_get_expr(d.adbin, d.adrelid))
            when a.attidentity = 'a' then format(' generated always as identity (maxvalue %s)', q.seqmax)
            when d.adbin is not null then ' default ' || pg_get_expr(d.adbin, d.adrelid) else '' end
          || case when a.attnotnull then ' not null' else '' end
        from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
          left join pg_sequence q on a.attidentity <> ''
            and q.seqrelid = pg_get_serial_sequence(c.oid::regclass::text, a.attname)::regclass
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped order by a.attnum)
      -- Constraints that state "not null" exist since PostgreSQL 18; the columns show it already.
      || array(select format('constraint %I %s', n.conname, pg_get_constraintdef(n.oid)) from pg_constraint n
        where n.conrelid = c.oid and n.contype <> 'n' order by n.contype desc, n.conname) as lines,
      array(select pg_get_indexdef(i.indexrelid) || ';' from pg_index i join pg_class x on x.oid = i.indexrelid
        where i.indrelid = c.oid and not exists (select from pg_constraint where conindid = i.indexrelid)
        order by x.relname)
      || array(select pg_get_triggerdef(t.oid) || ';' from pg_trigger t
        where t.tgrelid = c.oid and not t.tgisinternal order by t.tgname) as statements
    from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' order by c.relname`;
  return tables.map(({ name, lines, statements }) =>
    [`create table ${name} (\n  ${lines.join(',\n  ')}\n);`, ...statements].join('\n'),
  );
}

async function describeFunctions(sql: Sql): Promise<string[]> {
  const rows = await sql<{ definition: string }[]>`
    select pg_get_functiondef(p.oid) as definition from pg_proc p
    where p.pronamespace = 'public'::regnamespace order by p.proname, p.oid::regprocedure::text`;
  return rows.map(({ definition }) => `${definition.trimEnd()};`);
}
