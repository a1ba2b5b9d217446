import type { Log } from '@gantry/daemon/log';
import { within } from '@gantry/daemon/within';
import { type Clock, systemClock } from '../base/clock.ts';
import { DEFAULT_TIMINGS } from '../base/timings.ts';

type WatchOptions = {
  /** Reads what can change by itself: links, errors, wear, a device that is gone. */
  read: () => Promise<unknown>;
  log: Log;
  clock?: Clock;
  everyMs?: number;
  firstLookLimitMs?: number;
};

type Watch = {
  /**
   * Sets what is called when the devices differ from the last reading. A change before that is reported
   * at once: a reading may end while the caller is still starting what it reports to.
   */
  onChange(listener: () => void): void;
  stop(): void;
};

/** A device that does not respond must not delay the host's VMs. */
const FIRST_LOOK_LIMIT_MS = 5_000;

/**
 * Polls the devices, because no event reports that one fails. The first reading is complete when
 * this returns, so that later readings are at least as new and no change is missed; if the first
 * reading takes too long, its end counts as a change. At most one reading runs at a time. A reading
 * that fails reports no change and is repeated.
 */
export async function watchDevices({
  read,
  log,
  clock = systemClock,
  everyMs = DEFAULT_TIMINGS.devicesMs,
  firstLookLimitMs = FIRST_LOOK_LIMIT_MS,
}: WatchOptions): Promise<Watch> {
  let seen: string | undefined;
  let isUnreported = false;
  let changed = () => {
    isUnreported = true;
  };
  let cancel: () => void = () => undefined;
  let stopped = false;

  const look = async () => {
    try {
      return JSON.stringify(await read());
    } catch (error) {
      log.warn({ error }, 'health of devices or storage could not be read; will be retried');
      return seen;
    }
  };
  const compare = (now: string | undefined) => {
    if (stopped) return;
    if (now !== seen) changed();
    seen = now;
    cancel = clock.after(everyMs, () => void look().then(compare));
  };

  const first = look();
  seen = await within(firstLookLimitMs, first);
  void first.then(compare);
  return {
    onChange(listener) {
      changed = listener;
      if (isUnreported) listener();
    },
    stop() {
      stopped = true;
      cancel();
    },
  };
}
