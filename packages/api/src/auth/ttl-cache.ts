/**
 * Remembers answers for a moment. Callers that miss at the same time share one load; what `keep`
 * refuses is loaded again every time, and a load that fails is not remembered.
 */
export type TtlCache<Value> = {
  get(key: string, load: () => Promise<Value>): Promise<Value>;
  clear(): void;
};

type Options<Value> = { ttlMs: number; maxEntries: number; keep: (value: Value) => boolean };

export function createTtlCache<Value>({
  ttlMs,
  maxEntries,
  keep,
}: Options<Value>): TtlCache<Value> {
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
