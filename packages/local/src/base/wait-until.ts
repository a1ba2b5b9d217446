import { setTimeout as delay } from 'node:timers/promises';

/** Short enough not to be felt, long enough to leave a small machine alone. */
const POLL_MS = 25;

type Wait<T> = { limitMs: number; condition: () => Promise<T | undefined> };

/** The condition's first value that is not undefined, or undefined when the limit has passed. */
export async function waitUntil<T>({ limitMs, condition }: Wait<T>): Promise<T | undefined> {
  const end = Date.now() + limitMs;
  for (;;) {
    const value = await condition();
    if (value !== undefined) return value;
    if (Date.now() >= end) return undefined;
    await delay(POLL_MS);
  }
}
