import type { Listing } from '@gantry/db/queries/listing';
import { z } from '@hono/zod-openapi';
import { CommaList, Id, OptionalPaging, Text } from '../fields.ts';
import { TagFilter } from '../tags.ts';
import { NamedOrder, namedPage, toPageBounds } from './named-page.ts';

/**
 * The query of a list of resources of a project. Without a limit the whole list is one page, because these lists had no
 * pages at first.
 */
export const ResourceQuery = z.strictObject({
  ...OptionalPaging,
  ...NamedOrder,
  ids: CommaList(Id),
  names: CommaList(Text(63)),
});

export const TaggedResourceQuery = ResourceQuery.extend({ tag: TagFilter });

type Query = z.output<typeof ResourceQuery> & { tag?: Record<string, string>[] };

/** Reads one row more than the page has, which shows that a next page exists. */
export function toListing(projectId: string, query: Query): Listing {
  const { limit, ids, names, tag: tags = [] } = query;
  const order = toPageBounds(query);
  return { ...order, projectId, ids, names, tags, limit: limit === null ? null : limit + 1 };
}

export function resourcePage<Row extends { id: string; name: string }, Item>(
  rows: Row[],
  { limit, sort }: Query,
  view: (row: Row) => Item,
) {
  return namedPage(rows, { limit: limit ?? rows.length, sort }, view);
}
