import type { Log } from '@gantry/daemon/log';
import { startLoop } from '@gantry/daemon/loop';
import type { Sql } from '@gantry/db/connect';
import { type Changes, readChanges } from '@gantry/db/queries/changes';
import { readOldestOpenXid } from '@gantry/db/queries/hosts/host-changes';

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
const SPEED_UP = 4;
/** After this time without changes it asks half as often. */
const QUIET_AFTER_MS = 10_000;
const SLOW_DOWN = 2;

/**
 * Asks the database again and again what has changed, with one statement for all locations and all parts
 * of a scheduler. While nothing happens, a scheduler asks for little else.
 */
export function pollChanges(options: PollOptions): ChangePoll {
  const { sql, log, pollMs } = options;
  let since: string | null = null;
  let polledAtMs = performance.now();
  let changedAtMs = performance.now();
  let isHurried = false;
  const pauseMs = () => {
    if (isHurried) return pollMs / SPEED_UP;
    return performance.now() > changedAtMs + QUIET_AFTER_MS ? SLOW_DOWN * pollMs : pollMs;
  };
  const loop = startLoop({
    name: 'changes',
    everyMs: pauseMs,
    log,
    body: async () => {
      // Earlier changes are in what every part reads when it starts.
      if (since === null) {
        since = await readOldestOpenXid(sql);
        options.onGap();
      }
      isHurried = false;
      const started = since;
      const changes = await readChanges(sql, { since, locations: options.locations() });
      if (performance.now() > polledAtMs + MAX_GAP_MS) options.onGap();
      polledAtMs = performance.now();
      if (hasWork(changes)) changedAtMs = polledAtMs;
      options.onChanges(changes);
      // After a restart the next run reads the oldest open transaction again.
      if (since === started) since = changes.xmin;
    },
  });
  return {
    hurry() {
      isHurried = true;
    },
    restart() {
      since = null;
    },
    stop: () => loop.stop(),
  };
}

function hasWork({ hosts, networkIds, unplaced, isUnsettled }: Changes): boolean {
  return hosts.length + networkIds.length + unplaced.length > 0 || isUnsettled;
}
