import { within } from '@gantry/daemon/within';

/** How long an answer is good, and how long one is waited for. */
type Terms = { forMs: number; limitMs: number; nowMs: () => number };
type Kept<T> = { answer: Promise<T | undefined>; untilMs: number; ended: boolean };

/**
 * Asks at most once per `forMs` and key; what fails or takes too long is undefined for as long. A
 * question that never ends, such as to a program the kernel does not let die, is not asked a second
 * time.
 */
export function remembered<T>(
  { forMs, limitMs, nowMs }: Terms,
  ask: (key: string) => Promise<T | undefined>,
): (key: string) => Promise<T | undefined> {
  const kept = new Map<string, Kept<T>>();
  return (key) => {
    const last = kept.get(key);
    if (last && (!last.ended || nowMs() < last.untilMs)) return last.answer;
    const asked = ask(key).catch(() => undefined);
    const next = { answer: within(limitMs, asked), untilMs: nowMs() + forMs, ended: false };
    void asked.then(() => {
      next.ended = true;
    });
    kept.set(key, next);
    return next.answer;
  };
}
