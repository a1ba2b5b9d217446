import { existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { applyMigrations, type Migration, readMigrations } from './apply-migrations.ts';
import { applySql } from './apply-sql.ts';
import { connect, type Sql } from './connect.ts';
import { insertCatalogue } from './queries/catalogue/catalogue-seed.ts';
import { insertInstallation } from './queries/maintenance/era.ts';
import { LOCK_LIMITS, type LockLimits } from './short-locks.ts';

/** Every Gantry process uses this number, and other programs are unlikely to. */
const MIGRATION_LOCK = 4_725_873_091;

/** How often a process looks whether another one has finished migrating. */
const LOCK_POLL_MS = 100;

export const OLDEST_SERVER = 15;

export type MigrateOptions = { migrations?: string; limits?: LockLimits };

/**
 * Brings the database to the schema of this version: migrations of tables, then the functions and
 * triggers of `sql/`, then the catalogue. Every process does so when it starts. The first one takes
 * the lock and does the work; the others wait for it and find nothing to do. Each step commits
 * completely or not at all, so a process that is killed midway leaves a clean start to the next
 * one.
 */
export async function migrate(
  url: string,
  { migrations: folder = folderOf('migrations'), limits = LOCK_LIMITS }: MigrateOptions = {},
): Promise<void> {
  // A migration may build an index of a large table. What waits for locks has limits of its own.
  const sql = connect({ url, name: 'gantry-migrate', maxConnections: 1, statementLimitMs: 0 });
  try {
    await requireSupportedServer(sql);
    await takeLock(sql);
    await turnOffJit(sql);
    const migrations = readMigrations(folder);
    await requireKnownHistory(sql, migrations);
    await applyMigrations(sql, migrations, { url, limits, lock: MIGRATION_LOCK });
    await applySql(sql, { folder: folderOf('sql'), migrations: folder, url, limits });
    await insertInstallation(sql);
    await insertCatalogue(sql);
  } finally {
    // Closing the session releases the lock.
    await sql.end({ timeout: 5 });
  }
}

/**
 * Asks again and again instead of waiting in one statement: that statement would have a snapshot, and
 * an index that another process builds concurrently waits for all older snapshots, so both would
 * wait for each other.
 */
async function takeLock(sql: Sql): Promise<void> {
  for (;;) {
    const [row] = await sql<
      { is_held: boolean }[]
    >`select pg_try_advisory_lock(${MIGRATION_LOCK}) as is_held`;
    if (row?.is_held) return;
    await pause(LOCK_POLL_MS);
  }
}

async function requireSupportedServer(sql: Sql): Promise<void> {
  const [row] = await sql<
    { version: number }[]
  >`select current_setting('server_version_num')::int / 10000 as version`;
  if (!row || row.version < OLDEST_SERVER) {
    throw new Error(`PostgreSQL ${row?.version} is too old: ${OLDEST_SERVER} or later is needed`);
  }
}

/**
 * Turns off the compiler of PostgreSQL (JIT). It compiles a statement at each execution if the plan looks expensive, as
 * the plan of a statement with many subqueries does: reading the spec of a host took seconds instead of milliseconds.
 * The setting belongs to the role in this database. PgBouncer would refuse it in the startup message of a session.
 */
async function turnOffJit(sql: Sql): Promise<void> {
  const [row] = await sql<{ is_on: boolean; statement: string }[]>`
    select current_setting('jit')::boolean as is_on,
      format('alter role current_user in database %I set jit = off', current_database()) as statement`;
  if (row?.is_on) await sql.unsafe(row.statement);
}

/**
 * Throws if the database was not created by the first migration of this version. The migrations of
 * versions that were never released are gone, so that a database from then cannot be migrated.
 * Without this check the first migration would fail because its tables exist.
 */
async function requireKnownHistory(sql: Sql, migrations: readonly Migration[]): Promise<void> {
  const [row] = await sql<
    { database: string; exists: boolean }[]
  >`select current_database() as database,
    to_regclass('drizzle.__drizzle_migrations') is not null as exists`;
  if (!row?.exists) return;
  const applied = await sql<
    { hash: string }[]
  >`select hash from drizzle.__drizzle_migrations order by created_at, id`;
  const known = migrations.map(({ hash }) => hash);
  const [first] = applied;
  if (!first) return;
  if (first.hash === known[0]) return requireNoNewer(applied, { known, database: row.database });
  throw new Error(
    `the database ${row.database} was created by a version of Gantry that was not released, and cannot be ` +
      'migrated: stop Gantry, drop the database (for "npm start": remove the .gantry directory) and start again',
  );
}

/**
 * Throws if a newer version has migrated the database. Otherwise this version would replace the newer
 * functions and triggers with its own, and write rows that the newer version does not understand.
 */
function requireNoNewer(
  applied: readonly { hash: string }[],
  { known, database }: { known: readonly string[]; database: string },
): void {
  const unknown = applied.filter(({ hash }) => !known.includes(hash)).length;
  if (unknown === 0) return;
  throw new Error(
    `the database ${database} has ${unknown} migrations that this version of Gantry does not know, because a newer ` +
      'version has used it: start the newer version, or restore a backup from before the upgrade',
  );
}

/**
 * Returns the folder beside the bundle if there is one, otherwise the folder beside the sources.
 */
function folderOf(name: 'migrations' | 'sql'): string {
  const bundled = fileURLToPath(new URL(`./${name}`, import.meta.url));
  return existsSync(bundled) ? bundled : fileURLToPath(new URL(`../${name}`, import.meta.url));
}
