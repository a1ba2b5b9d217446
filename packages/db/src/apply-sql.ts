import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Sql, Transaction } from './connect.ts';
import { type LockedWork, type Locker, lockBriefly } from './short-locks.ts';

/**
 * Brings the functions and triggers of the database to the versions in the files: `functions/*.sql`
 * has one function per file, `triggers/*.sql` has the triggers of one table per file. Every
 * statement is a "create or replace", so that applying a file twice changes nothing. A function or
 * trigger whose file or statement was removed is dropped.
 *
 * Everything happens in one transaction, and only if the files or the migrations have changed since
 * the last time. So a process that starts pays for one query. The caller holds the migration lock.
 *
 * Replacing a function locks no table. Replacing a trigger stops the writers of its table, so only the
 * triggers that have changed are replaced.
 */
export async function applySql(
  sql: Sql,
  {
    folder,
    migrations,
    ...work
  }: { folder: string; migrations: string } & Omit<LockedWork, 'what'>,
): Promise<void> {
  const functions = await readFiles(path.join(folder, 'functions'));
  const triggers = await readFiles(path.join(folder, 'triggers'));
  const digest = createHash('sha256')
    .update(
      JSON.stringify([[...functions, ...triggers], await readFile(journalOf(migrations), 'utf8')]),
    )
    .digest('hex');
  const unchanged = await sql`select from applied_sql where digest = ${digest}`;
  if (unchanged.length > 0) return;
  const names = {
    functions: namesOf('function', textOf(functions)),
    triggers: namesOf('trigger', textOf(triggers)),
  };
  const what = 'the change of the functions and triggers';
  await lockBriefly(sql, { what, ...work }, async ({ tx, execute }) => {
    await tx.unsafe(textOf(functions));
    await replaceTriggers(tx, { wanted: triggersOf(textOf(triggers)), execute });
    for (const statement of await readStale(tx, names)) await execute(statement);
    await recordApplied(tx, { digest, ...names });
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

function textOf(files: readonly { text: string }[]): string {
  return files.map(({ text }) => text).join('\n');
}

function namesOf(kind: 'function' | 'trigger', text: string): string[] {
  const statements = text.matchAll(
    new RegExp(`^create (?:or replace|constraint) ${kind} (\\w+)`, 'gim'),
  );
  return [...statements].flatMap(([, name]) => name ?? []);
}

type Trigger = { name: string; table: string; text: string; digest: string };

function triggersOf(text: string): Trigger[] {
  const statements = text.matchAll(
    /^create (?:or replace|constraint) trigger (\w+)[^;]*?\son (\w+)\s[^;]*;/gim,
  );
  return [...statements].map(([statement, name = '', table = '']) => ({
    name,
    table,
    text: statement,
    digest: createHash('sha256').update(statement).digest('hex'),
  }));
}

/**
 * The comment of a trigger has the digest of its statement and the transaction that wrote it. If
 * anybody else has replaced the trigger since, its row is of another transaction.
 */
async function replaceTriggers(
  tx: Transaction,
  { wanted, execute }: { wanted: readonly Trigger[]; execute: Locker['execute'] },
): Promise<void> {
  const current = await tx<{ key: string; comment: string }[]>`
    select tgrelid::regclass || '.' || tgname as key, obj_description(oid, 'pg_trigger') as comment from pg_trigger
    where not tgisinternal and obj_description(oid, 'pg_trigger') like '% ' || xmin::text`;
  const comments = new Map(current.map(({ key, comment }) => [key, comment]));
  const [row] = await tx<{ xid: string }[]>`select pg_current_xact_id()::xid::text as xid`;
  for (const { name, table, text, digest } of wanted) {
    if (comments.get(`${table}.${name}`)?.startsWith(`${digest} `)) continue;
    // PostgreSQL cannot replace a trigger by a constraint trigger.
    if (/^create constraint/i.test(text))
      await execute(`drop trigger if exists ${name} on ${table}`);
    await execute(`${text}\ncomment on trigger ${name} on ${table} is '${digest} ${row?.xid}'`);
  }
}

type Names = { functions: string[]; triggers: string[] };

/**
 * Returns the statements that drop what an earlier version created. Triggers come first, because they
 * need their functions.
 */
async function readStale(tx: Transaction, { functions, triggers }: Names): Promise<string[]> {
  const [before] = await tx<Names[]>`select functions, triggers from applied_sql`;
  if (!before) return [];
  const staleTriggers = before.triggers.filter((name) => !triggers.includes(name));
  const staleFunctions = before.functions.filter((name) => !functions.includes(name));
  const drops = await tx<{ statement: string }[]>`
    select format('drop trigger %I on %s', tgname, tgrelid::regclass) as statement from pg_trigger
      where tgname = any(${staleTriggers}::text[]) and not tgisinternal
    union all select format('drop function %s', oid::regprocedure) from pg_proc
      where proname = any(${staleFunctions}::text[]) and pronamespace = 'public'::regnamespace`;
  return drops.map(({ statement }) => statement);
}

async function recordApplied(
  tx: Transaction,
  { digest, functions, triggers }: Names & { digest: string },
): Promise<void> {
  await tx`insert into applied_sql (digest, functions, triggers) values (${digest}, ${functions}::text[], ${triggers}::text[])
    on conflict (id) do update set digest = excluded.digest, functions = excluded.functions,
      triggers = excluded.triggers`;
}
