import { z } from '@hono/zod-openapi';

/** Fields that many schemas share. Request schemas are strict: they refuse unknown members. */

export const Id = z
  .string()
  .toLowerCase()
  .regex(/^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/, 'must be a UUID')
  .openapi({ format: 'uuid' });

/** For replies, whose ids are always well-formed. */
export const ReplyId = z.guid();
/** An id that may be unset; an unset id is the empty string. */
export const ReplyIdOrEmpty = z.union([z.guid(), z.literal('')]);
export const Timestamp = z.iso.datetime();
export const TimestampOrEmpty = z.union([z.iso.datetime(), z.literal('')]);

export const Name = z.string().regex(/^[a-z0-9-]{1,63}$/, 'must be 1 to 63 of a-z, 0-9 and -');

/** Text that PostgreSQL and JSON both store unchanged. */
export const Text = (maxLength: number) =>
  z
    .string()
    .max(maxLength, `must be at most ${maxLength} characters`)
    .refine(
      (text) => text.isWellFormed() && !text.includes('\0'),
      'must be well-formed Unicode without NUL',
    );

export const PRINTABLE = /^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]*$/u;

/** A label that people read: printable characters on one line. */
export const Label = Text(255)
  .min(1, 'must not be empty')
  .regex(PRINTABLE, 'must not contain control characters')
  .refine((text) => text.trim() === text, 'must not start or end with a space')
  // Set by hand, because the generator would write the regular expression with its flag.
  .openapi({ pattern: PRINTABLE.source });

/** The name of a catalogue entry. The handler finds out whether the entry exists. */
export const CatalogueName = Text(63).min(1, 'must not be empty');

export const Email = Text(254)
  .regex(/^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+\.[^\s@\p{Cc}]+$/u, 'must be an e-mail address')
  .transform((email) => email.toLowerCase())
  .openapi({ type: 'string', format: 'email' });

export const ProjectParams = z.object({ project_id: Id });
export const OrganizationParams = z.object({ organization_id: Id });

/** "a,b,c" -> ["a", "b", "c"]; absent -> null. */
export const CommaList = <Item extends z.ZodType<string, string>>(item: Item) =>
  z
    .string()
    .transform((text) => text.split(',').filter((part) => part !== ''))
    .pipe(z.array(item).max(1000))
    .optional()
    .transform((items) => (items?.length ? items : null))
    .openapi({ type: 'string', description: 'A comma-separated list.' });

const DEFAULT_PAGE = 100;
const LARGEST_PAGE = 1000;

const GivenLimit = z
  .string()
  .regex(/^[1-9][0-9]{0,3}$/, `must be a whole number from 1 to ${LARGEST_PAGE}`)
  .transform(Number)
  .pipe(z.number().max(LARGEST_PAGE, `must be at most ${LARGEST_PAGE}`))
  .optional();

const Limit = GivenLimit.transform((limit) => limit ?? DEFAULT_PAGE).openapi({
  type: 'integer',
  minimum: 1,
  maximum: LARGEST_PAGE,
  default: DEFAULT_PAGE,
});

/** The id of the last item on the previous page. Clients copy it from `next_page_token`. */
const PageToken = Id.optional()
  .transform((token) => token ?? null)
  .openapi({ type: 'string', description: 'The next_page_token of the previous page.' });

/** How far a history reaches back. */
export const Hours = (max: number, usual: number) =>
  z
    .string()
    .regex(/^[1-9][0-9]{0,3}$/, `must be a whole number from 1 to ${max}`)
    .transform(Number)
    .pipe(z.number().max(max, `must be at most ${max}`))
    .optional()
    .transform((hours) => hours ?? usual)
    .openapi({ type: 'integer', minimum: 1, maximum: max, default: usual });

/** Ids are in the order of creation, so both orders read the index on the id. */
const TimeOrder = z.enum(['created_at', '-created_at']);
export const Sort = TimeOrder.default('created_at').openapi({
  description: 'The order: oldest first, or with a minus sign newest first.',
});

/** A project's names are indexed too. */
export const NamedSort = z
  .enum(['created_at', '-created_at', 'name', '-name'])
  .default('created_at')
  .openapi({
    description: 'The order: oldest first or by name, or with a minus sign the reverse.',
  });

export function isNewestFirst(sort: z.output<typeof Sort>): boolean {
  return sort === '-created_at';
}

export const Paging = { limit: Limit, page_token: PageToken };

/** For lists that are one page unless the client wants smaller ones. */
export const OptionalPaging = {
  limit: GivenLimit.transform((limit) => limit ?? null).openapi({
    ...{ type: 'integer', minimum: 1, maximum: LARGEST_PAGE },
    description: 'Without it, the list is one page.',
  }),
  page_token: PageToken,
};

/** The query of a list of things of operators or users. */
export const ListQuery = { ...Paging, sort: Sort, ids: CommaList(Id) };
export const NamedListQuery = { ...ListQuery, names: CommaList(Text(255)) };

/** The order of a list that begins with the newest thing. */
export const NewestSort = TimeOrder.default('-created_at').openapi({
  description: 'The order: newest first, or without a minus sign oldest first.',
});

type IdQuery = {
  limit: number;
  page_token: string | null;
  sort: z.output<typeof Sort>;
  ids: string[] | null;
  names?: string[] | null;
};

/** Reads one row more than the page has, which shows that a next page exists. */
export function toIdListing({ limit, page_token: after, sort, ids, names = null }: IdQuery) {
  return { after, newestFirst: isNewestFirst(sort), ids, names, limit: limit + 1 };
}

/**
 * Returns one page of a list. The caller reads limit + 1 rows: the extra row shows that a next page
 * exists.
 */
export function page<Row extends { id: string }, Item>(
  rows: Row[],
  limit: number,
  view: (row: Row) => Item,
  tokenAfter = (row: Row) => row.id,
) {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    items: shown.map(view),
    next_page_token: rows.length > limit && last ? tokenAfter(last) : '',
  };
}

export const Page = <Item extends z.ZodType>(item: Item) =>
  z.object({ items: z.array(item), next_page_token: z.string() });
export const Items = <Item extends z.ZodType>(item: Item) => z.object({ items: z.array(item) });
