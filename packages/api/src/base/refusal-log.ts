import type { Log } from '@gantry/daemon/log';
import { type Loop, startLoop } from '@gantry/daemon/loop';
import type { Sql } from '@gantry/db/connect';
import { type AuditLine, insertAuditLines } from '@gantry/db/queries/operations/records';

/**
 * Writes refused writes to the audit log in one batch a second, so that a flood of refusals does
 * not cause a flood of transactions. Refusals beyond the limit are only counted.
 */
export type RefusalLog = { add(line: AuditLine): void; stop(): Promise<void> };

const FLUSH_MS = 1_000;
const MAX_WAITING = 2_000;

export function createRefusalLog({ sql, log }: { sql: Sql; log: Log }): RefusalLog {
  let waiting: AuditLine[] = [];
  let dropped = 0;

  const flush = async () => {
    const lines = waiting;
    waiting = [];
    if (dropped > 0) log.warn({ dropped }, 'audit lines of refused writes dropped');
    dropped = 0;
    await insertAuditLines(sql, lines);
  };
  const loop: Loop = startLoop({ name: 'refusal-log', everyMs: FLUSH_MS, log, body: flush });

  return {
    add(line) {
      if (waiting.length < MAX_WAITING) waiting.push(line);
      else dropped += 1;
    },
    async stop() {
      await loop.stop();
      await flush();
    },
  };
}
