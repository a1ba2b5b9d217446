import { SettingsError } from '@gantry/daemon/settings';
import type { Sql } from '@gantry/db/connect';
import type { Manifest } from './create-backup.ts';
import { writeCredentials } from './credentials.ts';
import { openBackup } from './open-backup.ts';
import { checkDump, restoreDatabase } from './postgres-programs.ts';
import type { KeyWrapping } from './wrap-key.ts';

type Restoration = {
  sql: Sql;
  databaseUrl: string;
  wrapping: KeyWrapping;
  file: string;
  /** Where the credentials of the backup are written. */
  credentialsDirectory: string;
};

/**
 * Restores a backup into an empty database. The database changes in one transaction after the whole file
 * was verified, so a restoration that fails can be repeated.
 */
export async function restoreBackup(restoration: Restoration): Promise<Manifest> {
  const { sql, databaseUrl, wrapping, file, credentialsDirectory } = restoration;
  await requireEmpty(sql);
  const { manifest, credentials, dump } = await openBackup(file, wrapping);
  await writeCredentials(credentialsDirectory, credentials);
  await restoreDatabase(databaseUrl, dump);
  // A dump has no statistics, and without them the first statements could take too long.
  await sql`analyze`;
  return manifest;
}

/** Reads a backup to its end, and lets pg_restore read the dump. */
export async function verifyBackup(file: string, wrapping: KeyWrapping) {
  const { manifest, credentials, dump } = await openBackup(file, wrapping);
  await checkDump(dump);
  return { ...manifest, credentials: [...credentials.keys()] };
}

async function requireEmpty(sql: Sql): Promise<void> {
  const [found] = await sql<{ database: string; count: number }[]>`
    select current_database() as database, count(*)::int as count
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname <> 'information_schema' and n.nspname not like 'pg\\_%'`;
  if (found === undefined || found.count === 0) return;
  throw new SettingsError(
    `the database ${found.database} is not empty. Restore into a new one: createdb ${found.database}-restored, and name it in DATABASE_URL`,
  );
}
