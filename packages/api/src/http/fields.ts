import { z } from '@hono/zod-openapi';

/** The fields that many schemas share. Requests are strict: a member that is not known is refused. */

export const Id = z
  .string()
  .toLowerCase()
  .regex(/^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/, 'must be a UUID')
  .openapi({ format: 'uuid' });

/** In replies: ids are ours and well-formed. */
export const ReplyId = z.guid();
/** An id that may be unset: then it is the empty string. */
export const ReplyIdOrEmpty = z.union([z.guid(), z.literal('')]);
export const Timestamp = z.iso.datetime();
export const TimestampOrEmpty = z.union([z.iso.datetime(), z.literal('')]);

export const Name = z.string().regex(/^[a-z0-9-]{1,63}$/, 'must be 1 to 63 of a-z, 0-9 and -');

/** Text that PostgreSQL and JSON both hold unchanged. */
export const Text = (maxLength: number) =>
  z
    .string()
    .max(maxLength, `must be at most ${maxLength} characters`)
    .refine(
      (text) => text.isWellFormed() && !text.includes('\0'),
      'must be well-formed Unicode without NUL',
    );

const PRINTABLE = /^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]*$/u;

/** A label shown to people: anything printable, on one line. */
export const Label = Text(255)
  .min(1, 'must not be empty')
  .regex(PRINTABLE, 'must not contain control characters')
  .refine((text) => text.trim() === text, 'must not start or end with a space')
  // Written out, because the generator would add the flag to the pattern's text.
  .openapi({ pattern: PRINTABLE.source });

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

export const Limit = z
  .string()
  .regex(/^[1-9][0-9]{0,3}$/, `must be a whole number from 1 to ${LARGEST_PAGE}`)
  .transform(Number)
  .pipe(z.number().max(LARGEST_PAGE, `must be at most ${LARGEST_PAGE}`))
  .optional()
  .transform((limit) => limit ?? DEFAULT_PAGE)
  .openapi({ type: 'integer', minimum: 1, maximum: LARGEST_PAGE, default: DEFAULT_PAGE });

/** The id of the last item of the page before; clients take it from `next_page_token` as it is. */
export const PageToken = Id.optional()
  .transform((token) => token ?? null)
  .openapi({ type: 'string', description: 'The next_page_token of the page before.' });

export const Paging = { limit: Limit, page_token: PageToken };

/** Rows were read one beyond the limit: if it is there, so is a next page. */
export function page<Row extends { id: string }, Item>(
  rows: Row[],
  limit: number,
  view: (row: Row) => Item,
) {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return { items: shown.map(view), next_page_token: rows.length > limit && last ? last.id : '' };
}

export const Page = <Item extends z.ZodType>(item: Item) =>
  z.object({ items: z.array(item), next_page_token: z.string() });
export const Items = <Item extends z.ZodType>(item: Item) => z.object({ items: z.array(item) });
