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
 * Writes down that streams ended, however many end at once. One that could not be written is tried
 * again: until then this scheduler would vouch for a host that it does not hear.
 */
export function closeStreamsInBatches({ sql, log }: { sql: Sql; log: Log }): StreamClosing {
  let ended: EndedStream[] = [];
  const loop = startLoop({
    ...{ name: 'close-streams', everyMs: RETRY_MS, log },
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
