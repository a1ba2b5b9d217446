import { isUtf8 } from 'node:buffer';
import { badRequest, CloudError, type FieldError } from '@gantry/model/errors';
import type { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { headerOf, readBody } from './incoming.ts';

export const MAX_BODY_BYTES = 256 * 1024;
const JSON_TYPE = /^application\/(json|[\w.+-]+\+json)\s*(;|$)/i;
const MAX_REPORTED_FIELDS = 20;
const MAX_FIELD_LENGTH = 200;

/**
 * Returns the parsed input, or throws an error that names every field that does not fit the schema.
 */
export function parseInput<T>(
  schema: z.ZodType<T>,
  input: unknown,
  where: 'body' | 'query' | 'path',
): T {
  const fits = schema.safeParse(input);
  if (fits.success) return fits.data;
  // Parse again for our own messages. With them, the first parse would be slower for valid
  // requests.
  const result = schema.safeParse(input, { error: typeProblem });
  if (result.success) return result.data;
  throw badRequest(
    result.error.issues
      .slice(0, MAX_REPORTED_FIELDS)
      .flatMap((issue) => fieldErrors(issue, where))
      .slice(0, MAX_REPORTED_FIELDS),
  );
}

/** Replaces the library's messages about types; its other messages are clear. */
function typeProblem(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code !== 'invalid_type') return undefined;
  if (issue.input === undefined) return 'is required';
  const expected = issue.expected === 'int' ? 'whole number' : issue.expected;
  return `must be ${/^[aeio]/.test(expected) ? 'an' : 'a'} ${expected}`;
}

function fieldErrors(issue: z.core.$ZodIssue, where: string): FieldError[] {
  const path = issue.path.map(String);
  if (issue.code === 'unrecognized_keys') {
    // The client chose the names: they may be many, long or empty.
    return issue.keys.slice(0, MAX_REPORTED_FIELDS).map((key) => ({
      field: [...path, key].join('.').slice(0, MAX_FIELD_LENGTH) || '""',
      reason: 'is not a known member',
    }));
  }
  return [{ field: path.join('.') || where, reason: issue.message }];
}

export const NO_BODY = { raw: '', value: undefined };

/** Returns the JSON body of a request; its value is undefined if the request has no body. */
export async function readJsonBody(
  c: Context,
  { maxBodyBytes: limitBytes = MAX_BODY_BYTES }: { maxBodyBytes?: number | undefined },
): Promise<{ raw: string; value: unknown }> {
  const raw = await readText(c, limitBytes);
  if (raw === '') return { raw, value: undefined };
  if (!JSON_TYPE.test(headerOf(c, 'content-type') ?? '')) {
    throw new CloudError(
      'unsupported_media_type',
      'send the body as JSON, with "Content-Type: application/json"',
    );
  }
  try {
    return { raw, value: JSON.parse(raw) };
  } catch (cause) {
    throw new CloudError('bad_request', 'the body is not valid JSON', {
      details: [{ field: 'body', reason: 'is not valid JSON' }],
      cause,
    });
  }
}

async function readText(c: Context, limitBytes: number): Promise<string> {
  const bytes = await readBody(c, limitBytes);
  if (!bytes) throw tooLarge(limitBytes);
  if (!isUtf8(bytes)) throw badRequest([{ field: 'body', reason: 'is not valid UTF-8' }]);
  return bytes.toString();
}

function tooLarge(limitBytes: number): CloudError {
  return new CloudError(
    'request_too_large',
    `the body is larger than ${limitBytes / 1024} KiB: send a smaller one`,
  );
}
