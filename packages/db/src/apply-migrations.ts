/**
 * Applies the migrations that the database does not have yet, in their order, each in a transaction of
 * its own, so that the locks of one are released before the next begins. A migration is recorded in
 * the transaction that applies it. A process that is killed midway leaves whole migrations behind.
 *
 * An index that is built concurrently cannot be part of a transaction. Its migration is this one
 * statement, and it is recorded afterwards. If the process is killed in between, or the build
 * fails, the next start removes what is left of the index and builds it again.
 *
 * docs/contributors/migrations.md says how a migration has to be written.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { readMigrationFiles } from 'drizzle-orm/migrator';
import type { Queryable, Sql } from './connect.ts';
import { type LockLimits, lockBriefly, watchBlockers } from './short-locks.ts';

export type Migration = {
  name: string;
  statements: string[];
  hash: string;
  /** Milliseconds since 1970. Later migrations have larger numbers. */
  createdAt: number;
};

export function readMigrations(folder: string): Migration[] {
  const journal: { entries: { tag: string }[] } = JSON.parse(
    readFileSync(path.join(folder, 'meta', '_journal.json'), 'utf8'),
  );
  return readMigrationFiles({ migrationsFolder: folder }).map((file, index) => ({
    name: journal.entries[index]?.tag ?? '',
    statements: file.sql,
    hash: file.hash,
    createdAt: file.folderMillis,
  }));
}

export type ApplyOptions = {
  url: string;
  limits: LockLimits;
  /** The migration lock, which the session of `sql` holds. */
  lock: number;
};

export async function applyMigrations(
  sql: Sql,
  migrations: readonly Migration[],
  options: ApplyOptions,
): Promise<void> {
  await sql`create schema if not exists drizzle`;
  await sql`create table if not exists drizzle.__drizzle_migrations
    (id serial primary key, hash text not null, created_at bigint)`;
  const last = await readLast(sql);
  for (const migration of migrations.filter(({ createdAt }) => createdAt > last)) {
    const index = concurrentIndexOf(migration);
    await (index === undefined
      ? applyOne(sql, migration, options)
      : buildIndex(sql, { ...migration, index }, options));
  }
}

async function readLast(sql: Queryable): Promise<number> {
  const [row] = await sql<
    { last: number | null }[]
  >`select max(created_at)::float8 as last from drizzle.__drizzle_migrations`;
  return row?.last ?? 0;
}

async function record(sql: Queryable, { hash, createdAt }: Migration): Promise<void> {
  await sql`insert into drizzle.__drizzle_migrations (hash, created_at) values (${hash}, ${createdAt})`;
}

async function applyOne(
  sql: Sql,
  migration: Migration,
  { url, limits, lock }: ApplyOptions,
): Promise<void> {
  const what = `the migration ${migration.name}`;
  await lockBriefly(sql, { what, url, limits }, async ({ tx, execute }) => {
    await requireLock(tx, lock);
    for (const statement of migration.statements) await execute(statement);
    await record(tx, migration);
  });
}

/**
 * A connection that was lost is replaced, and the new session does not have the lock of the old one.
 * Another process may have it by now.
 */
async function requireLock(tx: Queryable, lock: number): Promise<void> {
  const [row] = await tx<
    { is_held: boolean }[]
  >`select pg_try_advisory_xact_lock(${lock}) as is_held`;
  if (!row?.is_held) throw new Error('another process has begun to migrate the database');
}

const CONCURRENTLY = /^(?:\s|--[^\n]*\n)*(create|drop)\s+(?:unique\s+)?index\s+concurrently\s/i;

/** Returns the name of the index if the migration creates or drops one concurrently. */
export function concurrentIndexOf({
  name,
  statements: [statement = '', ...others],
}: Pick<Migration, 'name' | 'statements'>): string | undefined {
  if (![statement, ...others].some((one) => CONCURRENTLY.test(one))) return undefined;
  const index = /\sconcurrently\s+(?:if\s+(?:not\s+)?exists\s+)?"?(\w+)"?/i.exec(statement)?.[1];
  if (index !== undefined && others.length === 0) return index;
  throw new Error(
    `BUG: the migration ${name} changes an index concurrently, so it can have only this one statement`,
  );
}

/** Readers and writers of the table go on meanwhile, so the build may take as long as it needs. */
async function buildIndex(
  sql: Sql,
  migration: Migration & { index: string },
  { url, limits }: ApplyOptions,
): Promise<void> {
  const { name, index, statements } = migration;
  const blockers = await watchBlockers(sql, url);
  try {
    // It waits for transactions that began earlier. No statement waits behind it.
    await sql`select set_config('lock_timeout', ${String(limits.giveUpAfterMs)}, false)`;
    await sql.unsafe(`drop index concurrently if exists "${index}"`);
    for (const statement of statements) {
      if (!/^(?:\s|--[^\n]*\n)*drop\s/i.test(statement)) await sql.unsafe(statement);
    }
    await record(sql, migration);
  } catch (error) {
    throw new Error(`the migration ${name} failed; it waited for ${blockers.describe()}`, {
      cause: error,
    });
  } finally {
    await blockers.stop();
    await sql`select set_config('lock_timeout', '0', false)`;
  }
}
