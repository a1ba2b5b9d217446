import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { type JsonSchema, OPERATIONS, type Operation, operationAt } from './document.ts';
import type { Exchange } from './subject.ts';

/** Lists how a reply differs from the OpenAPI document. Empty: it does not. */
export function judge(exchange: Exchange): string[] {
  const { status, headers, text, troubles } = exchange;
  const operation = operationAt(exchange.sent.method, exchange.pathname);
  if (!operation && status !== 404) return [`no operation has this path, so ${status} is wrong`];
  const problems = [...troubles];
  if (status >= 500) problems.push(`replied ${status}`);
  if (!headers.get('content-type')?.startsWith('application/json')) {
    problems.push(`content-type is ${headers.get('content-type')}`);
  }
  const body = parsed(text);
  if (body === undefined) return [...problems, 'the reply is not JSON'];
  const check = replyCheck(operation ?? anyOperation(), status);
  if (!check) problems.push(`${status} is not documented`);
  else if (!check(body)) problems.push(`breaks its schema: ${ajv.errorsText(check.errors)}`);
  if (status !== 200) problems.push(...errorProblems(body as ErrorBody, exchange));
  return problems;
}

/** A refusal must be short and must not repeat a long request. */
const MAX_ERROR = 16 * 1024;

type ErrorBody = { error_id?: string; details?: { field?: unknown; reason?: unknown }[] };

function errorProblems(body: ErrorBody, { status, headers, text }: Exchange): string[] {
  const problems: string[] = [];
  if (text.length > MAX_ERROR) problems.push(`the error is ${text.length} characters long`);
  if (!body.error_id || body.error_id !== headers.get('x-request-id')) {
    problems.push('error_id is not the x-request-id');
  }
  if (status === 400 && !namesFields(body.details)) problems.push('details name no field');
  if (status === 401 && !headers.get('www-authenticate')) problems.push('no www-authenticate');
  if (status === 429 && !headers.get('retry-after')) problems.push('no retry-after');
  return problems;
}

function namesFields(details: ErrorBody['details']): boolean {
  if (!Array.isArray(details) || details.length === 0) return false;
  return details.every(({ field, reason }) => isText(field) && isText(reason));
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
const checks = new Map<string, ValidateFunction>();

/**
 * Compiled schemas are cached, because compiling takes longer than a request and most replies share
 * a few schemas.
 */
function replyCheck(operation: Operation, status: number): ValidateFunction | undefined {
  const schema = operation.replies.get(status);
  if (!schema) return undefined;
  const key = JSON.stringify(schema);
  const check = checks.get(key) ?? ajv.compile(closed(schema));
  checks.set(key, check);
  return check;
}

/** A path without a route has an error reply like all others. */
function anyOperation(): Operation {
  const [first] = OPERATIONS;
  if (!first) throw new Error('the document has no operations');
  return first;
}

/** A member that is not in the document is an error, because this is how secrets leak. */
function closed(schema: JsonSchema): JsonSchema {
  const { properties, items, anyOf, oneOf, title: _, ...rest } = schema;
  return {
    ...rest,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, property]) => [name, closed(property)]),
      ),
      additionalProperties: schema.additionalProperties ?? false,
    }),
    ...(items && { items: closed(items) }),
    ...(anyOf && { anyOf: anyOf.map(closed) }),
    ...(oneOf && { oneOf: oneOf.map(closed) }),
  };
}
