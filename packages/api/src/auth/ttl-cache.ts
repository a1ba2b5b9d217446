/**
 * Caches values for a short time. Concurrent misses of one key share one load. A value for which
 * `keep` returns false is not cached, and neither is a failed load.
 */
export type TtlCache<Value> = {
  get(key: string, load: () => Promise<Value>): Promise<Value>;
  clear(): void;
};

type CacheOptions<Value> = { ttlMs: number; maxEntries: number; keep: (value: Value) => boolean };

export function createTtlCache<Value>({
  ttlMs,
  maxEntries,
  keep,
}: CacheOptions<Value>): TtlCache<Value> {
  const entries = new Map<string, { value: Promise<Value>; until: number }>();
  return {
    get(key, load) {
      const now = Date.now();
      const entry = entries.get(key);
      if (entry && entry.until > now) return entry.value;
      if (entries.size >= maxEntries) entries.clear();
      const value = load();
      const fresh = { value, until: now + ttlMs };
      entries.set(key, fresh);
      const forget = () => {
        if (entries.get(key) === fresh) entries.delete(key);
      };
      value.then((loaded) => {
        if (!keep(loaded)) forget();
      }, forget);
      return value;
    },
    clear: () => entries.clear(),
  };
}
