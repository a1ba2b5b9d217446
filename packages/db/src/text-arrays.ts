/**
 * Arrays of text and UUIDs. The driver would query the array types of the server on every new
 * connection; Gantry uses only these two, and their type numbers are fixed.
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

function renderArray(items: readonly string[]): string {
  return `{${items.map((item) => `"${escaped(item)}"`).join(',')}}`;
}

/** Most texts are ids without anything to escape; testing that is faster than replacing. */
function escaped(item: string): string {
  return /[\\"]/.test(item) ? item.replaceAll(/[\\"]/g, '\\$&') : item;
}

/** Parses arrays of one dimension without nulls, as our columns have. */
function parseArray(text: string): string[] {
  const items: string[] = [];
  const item = /"((?:[^"\\]|\\.)*)"|([^",{}]+)/gs;
  for (const [, quoted, bare] of text.slice(1, -1).matchAll(item)) {
    items.push(bare ?? quoted?.replaceAll(/\\(.)/gs, '$1') ?? '');
  }
  return items;
}
