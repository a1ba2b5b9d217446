import { setTimeout as delay } from 'node:timers/promises';
import type { Connection } from './home/credentials.ts';

const LIMIT_MS = 20_000;
const POLL_MS = 100;
/** Hosts attach within a moment of each other: when none has for so long, all have that will. */
const QUIET_MS = 1_500;

type Item = { type: string; location: string; available: boolean };

/**
 * Simulated hosts attach and tell what they have a moment after they start; what is said to a
 * newcomer should be true when it is read. It is when everything can be had; and where some of it is
 * taken or was never there, when nothing is added any more.
 */
export async function untilAvailable(connection: Connection, signal: AbortSignal): Promise<void> {
  const limit = Date.now() + LIMIT_MS;
  let seen = '';
  let changedAt = Date.now();
  while (Date.now() < limit && !signal.aborted) {
    const items = await readAvailabilities(connection);
    const available = items.filter((item) => item.available);
    if (items.length > 0 && available.length === items.length) return;
    const now = available.map(({ type, location }) => `${type} ${location}`).join();
    if (now !== seen) {
      seen = now;
      changedAt = Date.now();
    } else if (seen !== '' && Date.now() - changedAt > QUIET_MS) return;
    await delay(POLL_MS);
  }
}

/** Nothing where the api does not answer: it is started again by whoever keeps it. */
async function readAvailabilities(connection: Connection): Promise<Item[]> {
  const url = `${connection.base_url}/v0.1/projects/${connection.project_id}/availabilities`;
  try {
    const response = await fetch(url, {
      headers: { authorization: `Bearer ${connection.access_key}` },
      // The answer is one query.
      signal: AbortSignal.timeout(15_000),
    });
    const { items = [] } = (await response.json()) as { items?: Item[] };
    return items;
  } catch {
    return [];
  }
}
