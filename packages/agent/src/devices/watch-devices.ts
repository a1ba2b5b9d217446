import type { Log } from '@gantry/daemon/log';
import { within } from '@gantry/daemon/within';
import { type Clock, systemClock } from '../base/clock.ts';
import { DEFAULT_TIMINGS } from '../base/timings.ts';

type WatchOptions = {
  /** What can go bad while nobody touches it: links, errors, wear, a device that is gone. */
  read: () => Promise<unknown>;
  /** It is not what it was at the last look. */
  changed: () => void;
  log: Log;
  clock?: Clock;
  everyMs?: number;
  firstLookLimitMs?: number;
};

/** A device that does not answer must not keep a host from its VMs. */
const FIRST_LOOK_LIMIT_MS = 5_000;

/**
 * Looks at the devices every now and then, because nothing tells when one goes bad. The first look is
 * over when this answers, so whoever reads them afterwards sees that or what is newer, and no change is
 * missed; where it takes too long its end is told as a change. Never are two looks under way; one that
 * fails tells nothing and is repeated.
 */
export async function watchDevices({
  read,
  changed,
  log,
  clock = systemClock,
  everyMs = DEFAULT_TIMINGS.devicesMs,
  firstLookLimitMs = FIRST_LOOK_LIMIT_MS,
}: WatchOptions): Promise<{ stop: () => void }> {
  let seen: string | undefined;
  let cancel: () => void = () => undefined;
  let stopped = false;

  const look = async () => {
    try {
      return JSON.stringify(await read());
    } catch (error) {
      log.warn({ error }, 'the devices could not be looked at; it is tried again');
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
    stop: () => {
      stopped = true;
      cancel();
    },
  };
}
