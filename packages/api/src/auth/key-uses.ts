import type { Log } from '@gantry/daemon/log';
import { startLoop } from '@gantry/daemon/loop';
import type { Sql } from '@gantry/db/connect';
import { type KeyUse, recordKeyUses } from '@gantry/db/queries/tenants/access-keys';

/**
 * Records when and from where each access key was last used. The uses of ten seconds are written in
 * one statement, so that a busy key costs one row and not one write per request. A crash loses the
 * uses that are not written yet.
 */
export type KeyUses = {
  note(use: KeyUse): void;
  flush(): Promise<void>;
  stop(): Promise<void>;
};

const FLUSH_MS = 10_000;

export function createKeyUses({ sql, log }: { sql: Sql; log: Log }): KeyUses {
  let uses = new Map<string, KeyUse>();
  const flush = async () => {
    if (uses.size === 0) return;
    const written = [...uses.values()];
    uses = new Map();
    await recordKeyUses(sql, written);
  };
  const loop = startLoop({ name: 'key-uses', everyMs: FLUSH_MS, log, body: flush });
  return {
    note: (use) => void uses.set(use.id, use),
    flush,
    async stop() {
      await loop.stop();
      await flush();
    },
  };
}
