import { buildOpenApiDocument } from '@gantry/api/http/openapi';
import { ALL_ROUTES } from '@gantry/api/routes';

/** Reads the OpenAPI document as a client does: the possible requests and the possible replies. */

export type JsonSchema = {
  $ref?: string;
  title?: string;
  type?: string | string[];
  format?: string;
  pattern?: string;
  enum?: unknown[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: boolean | JsonSchema;
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  allOf?: JsonSchema[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  default?: unknown;
};

type Parameter = { name: string; in: string; schema: JsonSchema };
type Content = { content?: Record<string, { schema: JsonSchema }> };
type PathItem = {
  operationId: string;
  parameters?: Parameter[];
  requestBody?: Content;
  responses: Record<string, Content>;
};
type Document = {
  paths: Record<string, Record<string, PathItem>>;
  components: { schemas: Record<string, JsonSchema> };
};

export type Operation = {
  id: string;
  method: string;
  /** With the version prefix, and parameters in braces. */
  path: string;
  query: Parameter[];
  body: JsonSchema | undefined;
  /** By status. */
  replies: Map<number, JsonSchema>;
  /** Only an operator may call it. */
  admin: boolean;
};

/** The document as the server builds it. A test compares it with what the server serves. */
export const DOCUMENT = buildOpenApiDocument([...ALL_ROUTES]) as unknown as Document;

/** Operations of operators change what all others depend on, so they come last. */
export const OPERATIONS: readonly Operation[] = Object.entries(DOCUMENT.paths)
  .flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, item]) => toOperation(path, method, item)),
  )
  .sort((a, b) => Number(a.admin) - Number(b.admin));

function toOperation(path: string, method: string, item: PathItem): Operation {
  const body = item.requestBody?.content?.['application/json']?.schema;
  return {
    id: item.operationId,
    method: method.toUpperCase(),
    path,
    query: (item.parameters ?? []).filter((parameter) => parameter.in === 'query'),
    body: body && inlined(body),
    replies: new Map(
      Object.entries(item.responses).flatMap(([status, { content }]) => {
        const schema = content?.['application/json']?.schema;
        return schema ? [[Number(status), inlined(schema)] as const] : [];
      }),
    ),
    admin: path.startsWith('/v0.1/admin/'),
  };
}

/** Returns the schema without references; `allOf` becomes the one object that it describes. */
function inlined(schema: JsonSchema, depth = 0): JsonSchema {
  if (depth > 32) throw new Error('a schema of the document refers to itself');
  const inner = (part: JsonSchema) => inlined(part, depth + 1);
  if (schema.$ref) {
    const name = schema.$ref.replace('#/components/schemas/', '');
    const target = DOCUMENT.components.schemas[name];
    if (!target) throw new Error(`the document lacks ${schema.$ref}`);
    return { ...inner(target), title: name };
  }
  if (schema.allOf) return mergeObjects(schema.allOf.map(inner));
  const { properties, items, additionalProperties, anyOf, oneOf } = schema;
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, property]) => [name, inner(property)]),
      ),
    }),
    ...(items && { items: inner(items) }),
    ...(typeof additionalProperties === 'object' && {
      additionalProperties: inner(additionalProperties),
    }),
    ...(anyOf && { anyOf: anyOf.map(inner) }),
    ...(oneOf && { oneOf: oneOf.map(inner) }),
  };
}

function mergeObjects(parts: JsonSchema[]): JsonSchema {
  return {
    type: 'object',
    properties: Object.assign({}, ...parts.map(({ properties }) => properties)),
    required: parts.flatMap(({ required }) => required ?? []),
  };
}

/**
 * Returns the operation that serves a path. It can differ from the operation that the path was made
 * for: a parameter may be "operations", or dots that a URL removes. Undefined: the reply must be 404.
 */
export function operationAt(method: string, pathname: string): Operation | undefined {
  const path = decoded(pathname);
  return OPERATIONS.filter((operation) => operation.method === method)
    .filter((operation) => templatePattern(operation.path).test(path))
    .sort((a, b) => parameterCount(a.path) - parameterCount(b.path))[0];
}

function decoded(pathname: string): string {
  try {
    return decodeURI(pathname);
  } catch {
    return pathname;
  }
}

function templatePattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`, 's');
}

function parameterCount(path: string): number {
  return path.split('{').length;
}
