import type { Listing } from '@gantry/db/queries/listing';
import { z } from '@hono/zod-openapi';
import { CommaList, Id, isNewestFirst, OptionalPaging, page, Sort, Text } from '../fields.ts';
import { TagFilter } from '../tags.ts';

/**
 * The query of a list of resources of a project. Without a limit the whole list is one page, because these lists had no
 * pages at first.
 */
export const ResourceQuery = z.strictObject({
  ...OptionalPaging,
  sort: Sort,
  ids: CommaList(Id),
  names: CommaList(Text(63)),
});

export const TaggedResourceQuery = ResourceQuery.extend({ tag: TagFilter });

type Query = z.output<typeof ResourceQuery> & { tag?: Record<string, string>[] };

/** Reads one row more than the page has, which shows that a next page exists. */
export function toListing(projectId: string, query: Query): Listing {
  const { limit, page_token: after, sort, ids, names, tag: tags = [] } = query;
  const newestFirst = isNewestFirst(sort);
  return {
    projectId,
    ids,
    names,
    tags,
    after,
    newestFirst,
    limit: limit === null ? null : limit + 1,
  };
}

export function resourcePage<Row extends { id: string }, Item>(
  rows: Row[],
  { limit }: Query,
  view: (row: Row) => Item,
) {
  return page(rows, limit ?? rows.length, view);
}
