import type { Log } from '@gantry/daemon/log';
import { startLoop } from '@gantry/daemon/loop';
import type { Sql } from '@gantry/db/connect';
import { closeStreams } from '@gantry/db/queries/hosts/host-liveness';

export type StreamClosing = {
  add(ended: EndedStream): void;
  stop(): Promise<void>;
};
type EndedStream = { hostId: string; streamEpoch: string };

const RETRY_MS = 1_000;

/**
 * Records ended streams in batches. A failed batch is retried: until it is recorded, the database
 * shows the host as connected to this scheduler.
 */
export function closeStreamsInBatches({ sql, log }: { sql: Sql; log: Log }): StreamClosing {
  let ended: EndedStream[] = [];
  const loop = startLoop({
    name: 'close-streams',
    everyMs: RETRY_MS,
    log,
    body: async () => {
      const batch = ended;
      if (batch.length === 0) return;
      ended = [];
      try {
        await closeStreams(sql, batch);
      } catch (error) {
        ended = [...batch, ...ended];
        throw error;
      }
    },
  });
  return {
    add(stream) {
      ended.push(stream);
      loop.nudge();
    },
    stop: () => loop.stop(),
  };
}
