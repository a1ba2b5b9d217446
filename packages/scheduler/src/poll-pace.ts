import type { Changes } from '@gantry/db/queries/changes';

/** How long a poll waits for the next one. */
export type PollPace = {
  /** A run placed many VMs, so more changes are likely: if a poll is under way, the pause after it is a short one. */
  hurry(): void;
  /** A poll begins. */
  polling(): void;
  /** Notes what a poll has found. */
  polled(changes: Pick<Changes, 'hosts' | 'networkIds' | 'unplaced' | 'isUnsettled'>): void;
  pauseMs(): number;
};

const SPEED_UP = 4;
/** After this time without changes it asks half as often. */
const QUIET_AFTER_MS = 10_000;
const SLOW_DOWN = 2;
/**
 * If VMs waited at two polls in a row, they come in a stream. The next pause is longer then, because most of the cost
 * of a placement run does not depend on the number of its VMs. A VM that comes alone does not wait longer, and neither
 * do VMs that come so fast that each run has many anyway.
 */
const GATHER = 1.5;

export function createPollPace(
  pollMs: number,
  nowMs: () => number = () => performance.now(),
): PollPace {
  let changedAtMs = nowMs();
  let isHurried = false;
  /** How many polls in a row found VMs that wait, since a run placed many. */
  let withVms = 0;
  return {
    hurry() {
      isHurried = true;
      withVms = 0;
    },
    polling() {
      isHurried = false;
    },
    polled({ hosts, networkIds, unplaced, isUnsettled }) {
      if (hosts.length + networkIds.length + unplaced.length > 0 || isUnsettled)
        changedAtMs = nowMs();
      withVms = unplaced.length > 0 ? withVms + 1 : 0;
    },
    pauseMs() {
      if (isHurried) return pollMs / SPEED_UP;
      if (withVms >= 2) return GATHER * pollMs;
      return nowMs() > changedAtMs + QUIET_AFTER_MS ? SLOW_DOWN * pollMs : pollMs;
    },
  };
}
