import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Sql, Transaction } from './connect.ts';

/**
 * Brings the functions and triggers of the database to the versions in the files: `functions/*.sql`
 * has one function per file, `triggers/*.sql` has the triggers of one table per file. Every
 * statement is a "create or replace", so that applying a file twice changes nothing. A function or
 * trigger whose file or statement was removed is dropped.
 *
 * Everything happens in one transaction, and only if the files or the migrations have changed since
 * the last time. So a process that starts pays for one query. The caller holds the migration lock.
 */
export async function applySql(
  sql: Sql,
  { folder, migrations }: { folder: string; migrations: string },
): Promise<void> {
  const files = [
    ...(await readFiles(path.join(folder, 'functions'))),
    ...(await readFiles(path.join(folder, 'triggers'))),
  ];
  const digest = createHash('sha256')
    .update(JSON.stringify([files, await readFile(journalOf(migrations), 'utf8')]))
    .digest('hex');
  const unchanged = await sql`select from applied_sql where digest = ${digest}`;
  if (unchanged.length > 0) return;
  const text = files.map((file) => file.text).join('\n');
  await sql.begin(async (tx) => {
    await tx.unsafe(text);
    await dropStale(tx, {
      functions: namesOf('function', text),
      triggers: namesOf('trigger', text),
    });
    await recordApplied(tx, {
      ...{ digest, functions: namesOf('function', text), triggers: namesOf('trigger', text) },
    });
  });
}

/**
 * drizzle-kit's list of migrations. A migration may drop a trigger that has to be created again.
 */
function journalOf(migrations: string): string {
  return path.join(migrations, 'meta', '_journal.json');
}

async function readFiles(folder: string): Promise<{ name: string; text: string }[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort();
  return await Promise.all(
    names.map(async (name) => ({ name, text: await readFile(path.join(folder, name), 'utf8') })),
  );
}

function namesOf(kind: 'function' | 'trigger', text: string): string[] {
  const statements = text.matchAll(new RegExp(`^create or replace ${kind} (\\w+)`, 'gim'));
  return [...statements].flatMap(([, name]) => name ?? []);
}

type Names = { functions: string[]; triggers: string[] };

/**
 * Drops what an earlier version created. Triggers come first, because they need their functions.
 */
async function dropStale(tx: Transaction, { functions, triggers }: Names): Promise<void> {
  const [before] = await tx<Names[]>`select functions, triggers from applied_sql`;
  if (!before) return;
  const staleTriggers = before.triggers.filter((name) => !triggers.includes(name));
  const staleFunctions = before.functions.filter((name) => !functions.includes(name));
  const drops = await tx<{ statement: string }[]>`
    select format('drop trigger %I on %s', tgname, tgrelid::regclass) as statement from pg_trigger
      where tgname = any(${staleTriggers}::text[]) and not tgisinternal
    union all select format('drop function %s', oid::regprocedure) from pg_proc
      where proname = any(${staleFunctions}::text[]) and pronamespace = 'public'::regnamespace`;
  for (const { statement } of drops) await tx.unsafe(statement);
}

async function recordApplied(
  tx: Transaction,
  { digest, functions, triggers }: Names & { digest: string },
): Promise<void> {
  await tx`insert into applied_sql (digest, functions, triggers) values (${digest}, ${functions}::text[], ${triggers}::text[])
    on conflict (id) do update set digest = excluded.digest, functions = excluded.functions,
      triggers = excluded.triggers`;
}
