export type CacheEntry = { sha256: string; sizeBytes: number; lastUsedMs: number };

/** Returns the images to evict, least recently used first, until the rest is within the limit. */
export function chooseEvictions(
  entries: readonly CacheEntry[],
  { limitBytes, kept }: { limitBytes: number; kept: ReadonlySet<string> },
): string[] {
  let total = entries.reduce((sum, entry) => sum + entry.sizeBytes, 0);
  const oldestFirst = entries
    .filter(({ sha256 }) => !kept.has(sha256))
    .sort((a, b) => a.lastUsedMs - b.lastUsedMs);
  const chosen: string[] = [];
  for (const { sha256, sizeBytes } of oldestFirst) {
    if (total <= limitBytes) break;
    chosen.push(sha256);
    total -= sizeBytes;
  }
  return chosen;
}
