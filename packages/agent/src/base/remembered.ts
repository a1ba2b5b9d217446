import { within } from '@gantry/daemon/within';

/** How long a result stays valid, and how long the caller waits for one. */
type Terms = { forMs: number; limitMs: number; nowMs: () => number };
type Kept<T> = { value: Promise<T | undefined>; untilMs: number; ended: boolean };

/**
 * Caches the result of `ask` by key for `forMs`. A failure or a timeout counts as undefined for the
 * same time. A call that never ends, for example a program that the kernel cannot kill, is not
 * started a second time.
 */
export function remembered<T>(
  { forMs, limitMs, nowMs }: Terms,
  ask: (key: string) => Promise<T | undefined>,
): (key: string) => Promise<T | undefined> {
  const kept = new Map<string, Kept<T>>();
  return (key) => {
    const last = kept.get(key);
    if (last && (!last.ended || nowMs() < last.untilMs)) return last.value;
    const asked = ask(key).catch(() => undefined);
    const next = { value: within(limitMs, asked), untilMs: nowMs() + forMs, ended: false };
    void asked.then(() => {
      next.ended = true;
    });
    kept.set(key, next);
    return next.value;
  };
}
