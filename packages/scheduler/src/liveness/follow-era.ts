import type { Log } from '@gantry/daemon/log';
import type { Sql } from '@gantry/db/connect';
import { ensureEra } from '@gantry/db/queries/maintenance/era';

type Following = {
  sql: Sql;
  log: Log;
  /** Called when an era has begun since the last call. Everything cached from the database is stale. */
  onEra(): void;
};

/**
 * Returns the body of a loop that begins a new era if the database has lost commits, and that notices
 * eras which other processes began. Until the era begins, no report is settled.
 */
export function followEra({ sql, log, onEra }: Following): () => Promise<void> {
  let known: string | undefined;
  return async () => {
    const { era, hasBegun } = await ensureEra(sql);
    if (hasBegun) log.warn({ era }, 'the database has a new history; a new era has begun');
    if (known !== undefined && known !== era) onEra();
    known = era;
  };
}
