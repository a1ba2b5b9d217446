import { setTimeout as delay } from 'node:timers/promises';

/** Waits before the reply to a client that ignores refusals. */
export type RefusalPause = () => Promise<void>;

/** Held replies take memory. Beyond these, replies are sent at once. */
const MAX_HELD = 1_000;

/**
 * Without a pause, a client that sends its next request as soon as it is refused keeps a whole core busy
 * with refusals. With it, each of its connections sends one request per pause.
 */
export function createRefusalPause(pauseMs = 1_000): RefusalPause {
  let held = 0;
  return async () => {
    if (held >= MAX_HELD) return;
    held += 1;
    await delay(pauseMs, undefined, { ref: false });
    held -= 1;
  };
}
