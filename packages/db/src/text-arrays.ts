/**
 * Arrays of text and of UUIDs, as PostgreSQL writes them. The driver would ask every new connection
 * for the server's array types; these two are all we use, their numbers are fixed, and a question
 * less is a failure less.
 */
const TEXT_ARRAY = 1009;
const UUID_ARRAY = 2951;

const arrayType = (oid: number) => ({
  to: oid,
  from: [oid],
  serialize: renderArray,
  parse: parseArray,
});

export const ARRAY_TYPES = { textArray: arrayType(TEXT_ARRAY), uuidArray: arrayType(UUID_ARRAY) };

export function renderArray(items: readonly string[]): string {
  return `{${items.map((item) => `"${escaped(item)}"`).join(',')}}`;
}

/** Most are ids, which have nothing to escape: to see so is cheaper than to replace nothing. */
function escaped(item: string): string {
  return /[\\"]/.test(item) ? item.replaceAll(/[\\"]/g, '\\$&') : item;
}

/** One dimension, no nulls: what our columns hold. */
export function parseArray(text: string): string[] {
  const items: string[] = [];
  const item = /"((?:[^"\\]|\\.)*)"|([^",{}]+)/gs;
  for (const [, quoted, bare] of text.slice(1, -1).matchAll(item)) {
    items.push(bare ?? quoted?.replaceAll(/\\(.)/gs, '$1') ?? '');
  }
  return items;
}
