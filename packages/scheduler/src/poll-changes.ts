import type { Log } from '@gantry/daemon/log';
import { startLoop } from '@gantry/daemon/loop';
import type { Sql } from '@gantry/db/connect';
import { type Changes, readChanges } from '@gantry/db/queries/changes';
import { readOldestOpenXid } from '@gantry/db/queries/hosts/host-changes';
import { createPollPace } from './poll-pace.ts';

type PollOptions = {
  sql: Sql;
  log: Log;
  pollMs: number;
  /** The locations in which this scheduler places VMs. */
  locations: () => string[];
  /** Must not throw. The changes are not read again. */
  onChanges: (changes: Changes) => void;
  /** Changes of networks may have been missed. */
  onGap: () => void;
};

export type ChangePoll = {
  /** Polls sooner the next time, because more changes are likely. */
  hurry(): void;
  /** Forgets which changes were read, because the database has another history. */
  restart(): void;
  stop(): Promise<void>;
};

/** Rows of changed networks are kept longer than this. */
const MAX_GAP_MS = 1_200_000;

/**
 * Asks the database again and again what has changed, with one statement for all locations and all parts
 * of a scheduler. While nothing happens, a scheduler asks for little else.
 */
export function pollChanges(options: PollOptions): ChangePoll {
  const { sql, log, pollMs } = options;
  let since: string | null = null;
  let polledAtMs = performance.now();
  const pace = createPollPace(pollMs);
  const loop = startLoop({
    name: 'changes',
    everyMs: pace.pauseMs,
    log,
    body: async () => {
      // Earlier changes are in what every part reads when it starts.
      if (since === null) {
        since = await readOldestOpenXid(sql);
        options.onGap();
      }
      pace.polling();
      const started = since;
      const changes = await readChanges(sql, { since, locations: options.locations() });
      if (performance.now() > polledAtMs + MAX_GAP_MS) options.onGap();
      polledAtMs = performance.now();
      pace.polled(changes);
      options.onChanges(changes);
      // After a restart the next run reads the oldest open transaction again.
      if (since === started) since = changes.xmin;
    },
  });
  return {
    hurry: pace.hurry,
    restart() {
      since = null;
    },
    stop: () => loop.stop(),
  };
}
