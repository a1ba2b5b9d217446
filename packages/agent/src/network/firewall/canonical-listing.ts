/**
 * Returns the output of `nft -j list table` without what differs between two listings of the same
 * rules: handles, counters and the order of set elements.
 */
export function canonicalListing(json: string): string {
  return JSON.stringify(canonical(JSON.parse(json)));
}

function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((item) => !isMetainfo(item)).map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== 'handle')
      .map(([key, child]) => {
        if (key === 'counter') return [key, null];
        const content = canonical(child);
        return [key, isUnordered(key) && Array.isArray(content) ? sorted(content) : content];
      }),
  );
}

/** Named sets and maps list `elem`; anonymous ones within a rule are a `set`. */
function isUnordered(key: string): boolean {
  return key === 'elem' || key === 'set';
}

function sorted(items: readonly unknown[]): unknown[] {
  return items
    .map((item) => ({ item, text: JSON.stringify(item) }))
    .sort((a, b) => (a.text < b.text ? -1 : 1))
    .map(({ item }) => item);
}

/** The version of the nft program. */
function isMetainfo(item: unknown): boolean {
  return typeof item === 'object' && item !== null && 'metainfo' in item;
}
