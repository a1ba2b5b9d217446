import { connect, type Sql } from '@gantry/db/connect';
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '@gantry/local/postgres/embedded-postgres';

/**
 * A server that records statistics of its statements. The setting takes effect at its next start.
 */
export async function startCountingPostgres(home: string): Promise<EmbeddedPostgres> {
  const first = await startEmbeddedPostgres({ home });
  const sql = connect({
    url: first.databaseUrl,
    name: 'bench',
    maxConnections: 1,
    statementLimitMs: 0,
  });
  await sql`alter system set shared_preload_libraries = 'pg_stat_statements'`;
  await sql`alter system set pg_stat_statements.track_planning = on`;
  await sql`alter system set pg_stat_statements.track = 'all'`;
  await sql.end({ timeout: 5 });
  await first.stop();
  const server = await startEmbeddedPostgres({ home });
  const again = connect({
    url: server.databaseUrl,
    name: 'bench',
    maxConnections: 1,
    statementLimitMs: 0,
  });
  await again`create extension if not exists pg_stat_statements`;
  await again.end({ timeout: 5 });
  return server;
}

export async function forgetStatements(sql: Sql): Promise<void> {
  await sql`select pg_stat_statements_reset()`;
}

/** Returns the statements that took the most time since the last reset, including waiting time. */
export async function printStatements(
  sql: Sql,
  { per, unit = 'creation' }: { per: number; unit?: string },
): Promise<void> {
  const rows = await sql<{ calls: number; plan: number; run: number; query: string }[]>`
    select calls::int, total_plan_time as plan, total_exec_time as run,
      left(regexp_replace(query, '[[:space:]]+', ' ', 'g'), 110) as query
    from pg_stat_statements order by total_plan_time + total_exec_time desc limit 40`;
  console.log(`ms planning and running, and calls, per ${unit}`);
  for (const { calls, plan, run, query } of rows)
    console.log(
      `${(plan / per).toFixed(3).padStart(8)} ${(run / per).toFixed(3).padStart(8)} ${(calls / per).toFixed(2).padStart(7)}  ${query}`,
    );
}
