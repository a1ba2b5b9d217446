import { setTimeout as delay } from 'node:timers/promises';

/** Short enough that users notice no delay, long enough to use little CPU on a small machine. */
const POLL_MS = 25;

type Wait<T> = { limitMs: number; condition: () => Promise<T | undefined> };

/** Returns the condition's first value that is not undefined, or undefined after the limit. */
export async function waitUntil<T>({ limitMs, condition }: Wait<T>): Promise<T | undefined> {
  const end = Date.now() + limitMs;
  for (;;) {
    const value = await condition();
    if (value !== undefined) return value;
    if (Date.now() >= end) return undefined;
    await delay(POLL_MS);
  }
}
