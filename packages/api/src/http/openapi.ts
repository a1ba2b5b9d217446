import { ERROR_KINDS } from '@gantry/model/errors';
import { OpenAPIHono, z } from '@hono/zod-openapi';
import { findReaders, hasEtag } from './etags.ts';
import { ERROR_STATUSES } from './http-errors.ts';
import { type AnyRoute, isWrite } from './route.ts';

export const API_PREFIX = '/v0.1';

/** Returns the OpenAPI 3.1 document of the routes that the server serves. */
export function buildOpenApiDocument(routes: AnyRoute[]) {
  const documented = new OpenAPIHono();
  const registry = documented.openAPIRegistry;
  const bearer = registry.registerComponent('securitySchemes', 'bearer', {
    type: 'http',
    scheme: 'bearer',
    description: 'An access key of a project, or an access token from POST /v0.1/auth/token.',
  });
  const readers = findReaders(routes);
  for (const route of routes) {
    const reader = readers.get(route);
    registry.registerPath({
      method: route.method,
      path: API_PREFIX + route.path,
      operationId: route.id,
      summary: route.summary,
      tags: [route.id.split('.')[0] ?? ''],
      security: route.access.level === 'public' ? [] : [{ [bearer.name]: [] }],
      request: requestOf(route, reader),
      responses: responsesOf(route, reader),
    });
  }
  return documented.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Gantry',
      version: 'v0.1',
      description:
        'GPU virtual machines on demand. A request that takes time returns an operation; poll ' +
        'it until it ends.',
    },
    servers: [{ url: '/' }],
  });
}

const ErrorBody = z
  .object({
    code: z.enum(Object.keys(ERROR_KINDS) as [keyof typeof ERROR_KINDS]),
    message: z.string(),
    error_id: z.guid(),
    details: z.unknown().optional(),
  })
  .openapi('Error');

const IdempotencyHeader = z.object({
  'Idempotency-Key': z.string().min(1).max(255).optional().openapi({
    description:
      'A request with the same key within 24 hours returns the first reply and changes nothing.',
  }),
});

const LastEventIdHeader = z.object({
  'Last-Event-ID': z
    .string()
    .optional()
    .openapi({
      description:
        'With Accept: text/event-stream, the id of the last event that the client has. The stream ' +
        'continues after it.',
    }),
});

const EventStreamText = z.string().openapi({
  description:
    'With Accept: text/event-stream, what happens from now on, as server-sent events. Query ' +
    'parameters belong to the JSON list and are refused.',
});

const IfMatchHeader = IdempotencyHeader.extend({
  'If-Match': z.string().optional().openapi({
    description: 'The ETag of a GET. If the resource has changed since, the reply is 412.',
  }),
});

const ETAG_HEADER = {
  ETag: {
    description: 'Identifies this state of the resource, for If-Match.',
    required: true,
    schema: { type: 'string' as const },
  },
};

function requestOf(route: AnyRoute, reader: AnyRoute | undefined) {
  const writeHeaders = reader ? IfMatchHeader : IdempotencyHeader;
  return {
    ...(route.stream ? { headers: LastEventIdHeader } : {}),
    ...(route.params ? { params: route.params as unknown as z.ZodObject } : {}),
    ...(route.query ? { query: route.query as unknown as z.ZodObject } : {}),
    ...(isWrite(route) && route.access.level !== 'public' ? { headers: writeHeaders } : {}),
    ...(route.body
      ? {
          body: {
            required: true,
            content: { 'application/json': { schema: route.body as unknown as z.ZodObject } },
          },
        }
      : {}),
  };
}

function responsesOf(route: AnyRoute, reader: AnyRoute | undefined) {
  const error = {
    description: 'The request failed',
    content: { 'application/json': { schema: ErrorBody } },
  };
  const done = {
    description: 'The request succeeded',
    ...(hasEtag(route, reader) ? { headers: ETAG_HEADER } : {}),
    content: {
      'application/json': { schema: route.reply as unknown as z.ZodObject },
      ...(route.stream ? { 'text/event-stream': { schema: EventStreamText } } : {}),
    },
  };
  return {
    ...(route.webSocket ? { 101: { description: 'A WebSocket' } } : { 200: done }),
    ...Object.fromEntries(ERROR_STATUSES.map((status) => [status, error])),
  };
}
