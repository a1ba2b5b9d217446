import { execFileSync } from 'node:child_process';
import { startEmbeddedPostgres } from '@gantry/local/postgres/embedded-postgres';
import postgres from 'postgres';
import { postgres15Binaries } from './postgres-15.ts';
import { removeHome } from './remove-home.ts';

/** scripts/debian-packages.mjs installs Debian's PostgreSQL client for the system suite, if it may. */
export function hasPostgresPrograms(): boolean {
  try {
    execFileSync('pg_dump', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** The oldest server, because Debian's pg_dump refuses servers that are newer than itself. */
export async function startOldestDatabase(
  home: string,
): Promise<{ databaseUrl: string; stop(): Promise<void> }> {
  const binariesDirectory = postgres15Binaries();
  const { databaseUrl, stop } = await startEmbeddedPostgres({ home, binariesDirectory });
  return {
    databaseUrl,
    async stop() {
      await stop();
      await removeHome(home);
    },
  };
}

/** Loses everything in the database, which is empty afterwards. */
export async function loseDatabase(databaseUrl: string): Promise<void> {
  const server = new URL(databaseUrl);
  const name = server.pathname.slice(1);
  server.pathname = '/postgres';
  const sql = postgres(server.href, { max: 1, onnotice: () => {} });
  try {
    await sql`drop database ${sql(name)} with (force)`;
    await sql`create database ${sql(name)}`;
  } finally {
    await sql.end();
  }
}
