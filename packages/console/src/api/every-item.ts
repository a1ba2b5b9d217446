/** Collects the items of every page of a list. */
export async function everyItem<Item>(listing: AsyncIterable<Item>): Promise<Item[]> {
  const items: Item[] = [];
  for await (const item of listing) items.push(item);
  return items;
}
