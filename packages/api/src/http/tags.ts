import { z } from '@hono/zod-openapi';
import { Name, PRINTABLE, Text } from './fields.ts';

const MAX_TAGS = 32;
const MAX_VALUE_LENGTH = 128;
/** Without a colon, because the first colon of a filter ends the key. */
const KEY = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,62}$/;
const KEY_PROBLEM = 'has a key that is not 1 to 63 of a-z, A-Z, 0-9, ".", "_", "/" and "-"';

const Value = Text(MAX_VALUE_LENGTH)
  .regex(PRINTABLE, 'must not contain control characters')
  .openapi({ pattern: PRINTABLE.source });

/** The library leaves the key `__proto__` of a record out without an error, so it is refused before. */
const WithoutPrototype = z.unknown().superRefine((tags, context) => {
  if (typeof tags !== 'object' || tags === null || !Object.hasOwn(tags, '__proto__')) return;
  context.addIssue({ code: 'custom', message: KEY_PROBLEM, path: ['__proto__'] });
});

const TagRecord = z.record(z.string(), Value).superRefine((tags, context) => {
  const keys = Object.keys(tags);
  const add = (message: string, path: string[] = []) =>
    context.addIssue({ code: 'custom', message, path });
  if (keys.length > MAX_TAGS) add(`must have at most ${MAX_TAGS} tags`);
  for (const key of keys) if (!KEY.test(key)) add(KEY_PROBLEM, [key]);
});

const DESCRIPTION = `Labels of the tenant, at most ${MAX_TAGS}.`;

/** Labels that tenants give to resources and filter lists by. Gantry does not interpret them. */
export const Tags = WithoutPrototype.pipe(TagRecord).openapi({
  type: 'object',
  additionalProperties: { type: 'string', maxLength: MAX_VALUE_LENGTH, pattern: PRINTABLE.source },
  description: DESCRIPTION,
});

export const ReplyTags = z.record(z.string(), z.string()).openapi({ description: DESCRIPTION });

/** `key:value`; the value may contain colons. A resource must have every tag of the filter. */
export const TagFilter = z
  .array(
    Text(64 + MAX_VALUE_LENGTH)
      .regex(/^[^:]+:/, 'must be key:value')
      .transform((tag): Record<string, string> => {
        const colon = tag.indexOf(':');
        return { [tag.slice(0, colon)]: tag.slice(colon + 1) };
      }),
  )
  .max(MAX_TAGS, `must be given at most ${MAX_TAGS} times`)
  .optional()
  .transform((tags) => tags ?? [])
  .openapi({
    type: 'array',
    items: { type: 'string' },
    description: 'A tag as key:value. It may be repeated; items must have all of the tags.',
  });

/** The change of a resource of which nothing else can change. */
export const NameOrTags = z
  .strictObject({ name: Name.optional(), tags: Tags.optional() })
  .refine(({ name, tags }) => name !== undefined || tags !== undefined, {
    path: ['name'],
    message: 'is required unless tags are given',
  });
