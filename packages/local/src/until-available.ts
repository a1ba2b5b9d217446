import { setTimeout as delay } from 'node:timers/promises';
import type { Connection } from './credentials.ts';

const LIMIT_MS = 20_000;
const POLL_MS = 100;

/**
 * Simulated hosts attach and tell what they have a moment after they start; what is said to a
 * newcomer should be true when it is read. Where it takes longer than that, it is said anyway.
 */
export async function untilAvailable(connection: Connection, signal: AbortSignal): Promise<void> {
  const url = `${connection.base_url}/v0.1/projects/${connection.project_id}/availabilities`;
  const headers = { authorization: `Bearer ${connection.access_key}` };
  const limit = Date.now() + LIMIT_MS;
  while (Date.now() < limit && !signal.aborted) {
    const response = await fetch(url, { headers });
    const { items = [] } = (await response.json()) as { items?: { available: boolean }[] };
    if (items.length > 0 && items.every(({ available }) => available)) return;
    await delay(POLL_MS);
  }
}
