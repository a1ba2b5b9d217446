import type { NamedPageBounds } from '@gantry/db/queries/page-bounds';
import { badRequest } from '@gantry/model/errors';
import type { z } from '@hono/zod-openapi';
import { NamedSort, page, Text } from '../fields.ts';

const TOKEN = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?::(.{1,255}))?$/isu;

/**
 * The id of the last item on the previous page, and its name if the list is sorted by name. The name is in it because
 * the item may be deleted or renamed before the next page is read.
 */
const NamedPageToken = Text(300)
  .regex(TOKEN, 'must be the next_page_token of the previous page')
  .transform((token) => {
    const [, id = '', name = null] = TOKEN.exec(token) ?? [];
    return { id: id.toLowerCase(), name };
  })
  .optional()
  .transform((token) => token ?? null)
  .openapi({ type: 'string', description: 'The next_page_token of the previous page.' });

/** The order of a list of named resources of one owner. */
export const NamedOrder = { page_token: NamedPageToken, sort: NamedSort };

type Order = {
  page_token: z.output<typeof NamedPageToken>;
  sort: z.output<typeof NamedSort>;
};

export function toPageBounds({ page_token: token, sort }: Order): Required<NamedPageBounds> {
  const byName = sort.endsWith('name');
  if (token && (token.name !== null) !== byName)
    throw badRequest([{ field: 'page_token', reason: 'was made with another sort' }]);
  return {
    ...{ byName, after: token?.id ?? null, afterName: token?.name ?? null },
    newestFirst: sort.startsWith('-'),
  };
}

/** Returns one page of a list, as `page` does. */
export function namedPage<Row extends { id: string; name: string }, Item>(
  rows: Row[],
  { limit, sort }: Pick<Order, 'sort'> & { limit: number },
  view: (row: Row) => Item,
) {
  const isByName = sort.endsWith('name');
  return page(rows, limit, view, ({ id, name }) => (isByName ? `${id}:${name}` : id));
}
