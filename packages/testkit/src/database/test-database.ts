import { randomBytes } from 'node:crypto';
import { connect, type Sql } from '@gantry/db/connect';
import postgres from 'postgres';
import { inject } from 'vitest';

export type TestDatabase = {
  url: string;
  sql: Sql;
  /**
   * Ends every connection to the database and lets no other in. Its files are removed with the server:
   * DROP DATABASE waits for a checkpoint, which takes longer than many of the test files.
   */
  drop(): Promise<void>;
};

/** The size of the pool, as in a process with default settings. */
export const TEST_CONNECTIONS = 10;
/** A busy machine may let a process wait for seconds, and a test is not about that. */
export const PATIENT_CONNECT_S = 60;
const PATIENT_STATEMENT_MS = 60_000;

/** Creates a temporary database from the suite's migrated template. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await onServer(
    (sql) => sql`create database ${sql(name)} template ${sql(inject('databaseTemplate'))}`,
  );
  const url = inject('databaseServer').replace(/\/postgres$/, `/${name}`);
  const sql = connect({
    ...{ url, name: 'gantry-test', maxConnections: TEST_CONNECTIONS },
    connectLimitS: PATIENT_CONNECT_S,
    statementLimitMs: PATIENT_STATEMENT_MS,
  });
  return {
    url,
    sql,
    async drop() {
      await sql.end({ timeout: 5 });
      await onServer(async (server) => {
        await server`alter database ${server(name)} allow_connections false`;
        await server`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`;
      });
    },
  };
}

async function onServer(run: (sql: postgres.Sql) => Promise<unknown>): Promise<void> {
  const sql = postgres(inject('databaseServer'), { max: 1, onnotice: () => {} });
  try {
    await run(sql);
  } finally {
    await sql.end();
  }
}

declare module 'vitest' {
  export interface ProvidedContext {
    databaseServer: string;
    databaseTemplate: string;
  }
}
