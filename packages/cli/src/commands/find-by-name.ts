import { NoSuchNameError, UsageError } from '../cli-errors.ts';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export function isId(text: string): boolean {
  return UUID.test(text);
}

type Named = { id: string; name: string };

/** Finds the thing with an id or a name in a list of the API that cannot be filtered. */
export async function findByName<Item extends Named>(
  kind: string,
  wanted: string,
  items: AsyncIterable<Item> | Iterable<Item>,
): Promise<Item> {
  const found: Item[] = [];
  for await (const item of items) {
    if (item.id === wanted.toLowerCase()) return item;
    if (item.name === wanted) found.push(item);
  }
  return onlyOne(kind, wanted, found);
}

export function onlyOne<Item>(kind: string, wanted: string, found: readonly Item[]): Item {
  const [item] = found;
  if (item === undefined) throw new NoSuchNameError(`there is no ${kind} ${wanted}`);
  if (found.length > 1)
    throw new UsageError(`several have the name ${wanted}: give the id of the ${kind}`);
  return item;
}
