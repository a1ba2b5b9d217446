import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { drizzle } from 'drizzle-orm/postgres-js';
import { migrate as applyMigrations } from 'drizzle-orm/postgres-js/migrator';
import { connect, type Sql } from './connect.ts';
import { insertCatalogue } from './queries/catalogue-seed.ts';

/** Any number that is the same in every Gantry process and unlikely in anyone else's. */
const MIGRATION_LOCK = 4_725_873_091;

export const OLDEST_SERVER = 15;

/**
 * Brings the database to this version's schema. Every process does so when it starts: the first one
 * holds the lock and works, the others wait for it and then find nothing to do. Each migration
 * commits whole or not at all, so a process killed midway leaves the next one a clean start.
 */
export async function migrate(url: string): Promise<void> {
  const sql = connect({ url, name: 'gantry-migrate', maxConnections: 1 });
  try {
    await refuseOldServer(sql);
    await sql`select pg_advisory_lock(${MIGRATION_LOCK})`;
    await applyMigrations(drizzle(sql), { migrationsFolder: migrationsFolder() });
    await insertCatalogue(sql);
  } finally {
    // Closing the session releases the lock.
    await sql.end({ timeout: 5 });
  }
}

async function refuseOldServer(sql: Sql): Promise<void> {
  const [row] = await sql<
    { version: number }[]
  >`select current_setting('server_version_num')::int / 10000 as version`;
  if (!row || row.version < OLDEST_SERVER) {
    throw new Error(`PostgreSQL ${row?.version} is too old: ${OLDEST_SERVER} or later is needed`);
  }
}

/** Beside the bundle where there is one, otherwise beside the sources. */
function migrationsFolder(): string {
  const bundled = fileURLToPath(new URL('./migrations', import.meta.url));
  return existsSync(bundled) ? bundled : fileURLToPath(new URL('../migrations', import.meta.url));
}
