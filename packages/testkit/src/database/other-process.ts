import { connect, type Sql, type Transaction } from '@gantry/db/connect';
import { PATIENT_CONNECT_S } from './test-database.ts';

/** Statements in this database that wait for a lock. */
export async function countWaiting(sql: Sql | Transaction): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*)::int as count from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;
  return row?.count ?? 0;
}

/** A pool of its own, as another process would have. */
export function otherProcess(url: string): Sql {
  return connect({
    ...{ url, name: 'gantry-other', maxConnections: 3 },
    connectLimitS: PATIENT_CONNECT_S,
  });
}

/**
 * A new connection got no reply in time, because the machine is slow. Nothing was sent, and the next attempt
 * connects again. Every loop of the product does the same.
 */
export function isLateConnection(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'CONNECT_TIMEOUT';
}
