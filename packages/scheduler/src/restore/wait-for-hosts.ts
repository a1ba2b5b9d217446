import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '@gantry/db/connect';
import { type Differences, readDifferences } from '@gantry/db/queries/maintenance/differences';

const POLL_MS = 500;

/** Whether the list may still grow or change. */
export function isIncomplete({ missing, changed }: Differences): boolean {
  return missing.length > 0 || changed.some(({ outcome }) => outcome === 'pending');
}

/**
 * Returns when every host has accepted a spec of the era and has reported what became of the VMs that it
 * did not run, or when the time is over.
 */
export async function waitForHosts({
  sql,
  era,
  limitMs,
}: {
  sql: Sql;
  era: string;
  limitMs: number;
}): Promise<void> {
  const endMs = performance.now() + limitMs;
  while (performance.now() < endMs) {
    if (!isIncomplete(await readDifferences(sql, era))) return;
    await sleep(POLL_MS);
  }
}
