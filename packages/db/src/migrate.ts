import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readMigrationFiles } from 'drizzle-orm/migrator';
import { drizzle } from 'drizzle-orm/postgres-js';
import { migrate as applyMigrations } from 'drizzle-orm/postgres-js/migrator';
import { applySql } from './apply-sql.ts';
import { connect, type Sql } from './connect.ts';
import { insertCatalogue } from './queries/catalogue/catalogue-seed.ts';

/** Every Gantry process uses this number, and other programs are unlikely to. */
const MIGRATION_LOCK = 4_725_873_091;

export const OLDEST_SERVER = 15;

/**
 * Brings the database to the schema of this version: migrations of tables, then the functions and
 * triggers of `sql/`, then the catalogue. Every process does so when it starts. The first one takes
 * the lock and does the work; the others wait for it and find nothing to do. Each step commits
 * completely or not at all, so a process that is killed midway leaves a clean start to the next
 * one.
 */
export async function migrate(url: string): Promise<void> {
  const sql = connect({ url, name: 'gantry-migrate', maxConnections: 1 });
  try {
    await requireSupportedServer(sql);
    await sql`select pg_advisory_lock(${MIGRATION_LOCK})`;
    const migrations = folderOf('migrations');
    await requireKnownHistory(sql, migrations);
    await applyMigrations(drizzle(sql), { migrationsFolder: migrations });
    await applySql(sql, { folder: folderOf('sql'), migrations });
    await insertCatalogue(sql);
  } finally {
    // Closing the session releases the lock.
    await sql.end({ timeout: 5 });
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
 * Throws if the database was not created by the first migration of this version. The migrations of
 * versions that were never released are gone, so that a database from then cannot be migrated.
 * Without this check the first migration would fail because its tables exist.
 */
async function requireKnownHistory(sql: Sql, migrationsFolder: string): Promise<void> {
  const [row] = await sql<
    { database: string; exists: boolean }[]
  >`select current_database() as database,
    to_regclass('drizzle.__drizzle_migrations') is not null as exists`;
  if (!row?.exists) return;
  const [first] = await sql<
    { hash: string }[]
  >`select hash from drizzle.__drizzle_migrations order by created_at, id limit 1`;
  const known = readMigrationFiles({ migrationsFolder })[0]?.hash;
  if (!first || first.hash === known) return;
  throw new Error(
    `the database ${row.database} was created by a version of Gantry that was not released, and cannot be ` +
      'migrated: stop Gantry, drop the database (for "npm start": remove the .gantry directory) and start again',
  );
}

/**
 * Returns the folder beside the bundle if there is one, otherwise the folder beside the sources.
 */
function folderOf(name: 'migrations' | 'sql'): string {
  const bundled = fileURLToPath(new URL(`./${name}`, import.meta.url));
  return existsSync(bundled) ? bundled : fileURLToPath(new URL(`../${name}`, import.meta.url));
}
