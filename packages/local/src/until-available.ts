import { setTimeout as delay } from 'node:timers/promises';
import type { Connection } from './home/credentials.ts';

const LIMIT_MS = 20_000;
const POLL_MS = 100;
/** Hosts attach shortly after each other. If none has attached for this long, no more will. */
const QUIET_MS = 1_500;

type Item = { type: string; location: string; available: boolean };

/**
 * Waits until the hosts have attached, so that the printed commands work at once. Returns when
 * every VM type is available. If some types are in use or have no host, returns when the list of
 * available types does not change any more.
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

/** Returns an empty list if the api does not reply. The launcher restarts the api if it died. */
async function readAvailabilities(connection: Connection): Promise<Item[]> {
  const url = `${connection.base_url}/v0.1/projects/${connection.project_id}/availabilities`;
  try {
    const response = await fetch(url, {
      headers: { authorization: `Bearer ${connection.access_key}` },
      // The reply needs one query.
      signal: AbortSignal.timeout(15_000),
    });
    const { items = [] } = (await response.json()) as { items?: Item[] };
    return items;
  } catch {
    return [];
  }
}
