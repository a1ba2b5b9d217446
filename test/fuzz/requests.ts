import fc from 'fast-check';
import { nearlyValid, toJsonText, valid } from './arbitraries.ts';
import type { Operation } from './document.ts';
import { KNOWN_GOOD, own } from './known-good.ts';
import { encoded, nastySegment, nastyString } from './nasty.ts';

/** The sender: a bearer of the fixtures, or a header that is not valid for any caller. */
const ROLES = ['operator', 'owner', 'member', 'readOnly', 'accessKey', 'readOnlyKey'] as const;
const STRANGERS = ['otherOwner', 'otherKey', 'otherReadOnlyKey', 'unpaidOwner', 'nobody'] as const;
export type Bearer = (typeof ROLES)[number] | (typeof STRANGERS)[number];

/** A request as it is sent, except that ids are written as `{{own.vm_id}}`. */
export type Plan = {
  method: string;
  path: string;
  query: string;
  bearer: Bearer | undefined;
  headers: Record<string, string>;
  body: Body | undefined;
};
type Body = { contentType: string | undefined; text: string; encoding: 'utf8' | 'latin1' };

export function anyRequest(operation: Operation): fc.Arbitrary<Plan> {
  return fc
    .record({
      method: fc.constant(operation.method),
      path: anyPath(operation),
      query: anyQuery(operation),
      ...anyCredential(operation),
      body: anyBody(operation),
    })
    .map(({ authorization, headers, ...plan }) => ({
      ...plan,
      headers: authorization === undefined ? headers : { ...headers, authorization },
    }));
}

/** A request that should be accepted as far as a schema can tell. */
export function goodRequest(operation: Operation): fc.Arbitrary<Plan> {
  return fc.record({
    method: fc.constant(operation.method),
    path: pathOf(operation, goodSegment),
    query: goodQuery(operation),
    bearer: fc.constantFrom<Bearer>(
      ...(operation.admin ? ['operator' as const] : ['owner' as const, 'operator' as const]),
    ),
    headers: fc.constant({}),
    body: operation.body ? goodBody(operation.body) : fc.constant(undefined),
  });
}

type Segment = (name: string, target: string) => fc.Arbitrary<string>;

/**
 * `target` is the value of the last parameter, the resource that the request acts on, by method.
 */
function pathOf({ method, path }: Operation, segment: Segment) {
  const parts = path.split(/\{(\w+)\}/);
  const last = parts.length - 2;
  return fc
    .tuple(
      ...parts.map((part, i) =>
        i % 2 === 0 ? fc.constant(part) : segment(part, i === last ? `${method}.${part}` : ''),
      ),
    )
    .map((filled) => filled.join(''));
}

/** A parameter that is not in the table of valid values is an id with the same name. */
function goodSegment(name: string, target: string): fc.Arbitrary<string> {
  return (KNOWN_GOOD[target] ?? KNOWN_GOOD[name] ?? own(name)).map(String);
}

function anyPath(operation: Operation): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 4, arbitrary: pathOf(operation, goodSegment) },
    { weight: 1, arbitrary: pathOf(operation, anySegment) },
  );
}

function anySegment(name: string, target: string): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 3, arbitrary: goodSegment(name, target) },
    { weight: 1, arbitrary: fc.constant(`{{OWN.${name}}}`) },
    { weight: 1, arbitrary: fc.constant(`{{other.${name}}}`) },
    { weight: 1, arbitrary: fc.uuid() },
    { weight: 4, arbitrary: nastySegment },
  );
}

function goodQuery({ query }: Operation): fc.Arbitrary<string> {
  const pairs = query.map(({ name, schema }) =>
    fc.option(
      valid(schema, name).map((value) => `${name}=${keepingIds(String(value))}`),
      {
        nil: undefined,
      },
    ),
  );
  return fc.tuple(...pairs).map((given) => joined(given.filter((pair) => pair !== undefined)));
}

function anyQuery(operation: Operation): fc.Arbitrary<string> {
  const names = [...operation.query.map(({ name }) => name), 'unknown', '__proto__', ''];
  const nastyPair = fc
    .tuple(fc.constantFrom(...names), fc.oneof(nastyString.map(encoded), nastySegment))
    .map(([name, value]) => `${name}=${value}`);
  const good = goodQuery(operation);
  return fc.oneof(
    { weight: 5, arbitrary: good },
    {
      weight: operation.query.length > 0 ? 5 : 1,
      arbitrary: fc
        .tuple(good, fc.array(nastyPair, { minLength: 1, maxLength: 3 }))
        .map(([start, pairs]) => joined([...(start ? [start.slice(1)] : []), ...pairs])),
    },
    { weight: 1, arbitrary: good.map((query) => joined([query.slice(1), query.slice(1)])) },
    {
      weight: 1,
      arbitrary: fc.constantFrom('?', '?&&=&', '?%', '?limit', `?a=${'a'.repeat(9_000)}`),
    },
  );
}

function joined(pairs: string[]): string {
  const query = pairs.filter((pair) => pair !== '').join('&');
  return query === '' ? '' : `?${query}`;
}

function keepingIds(value: string): string {
  return value
    .split(/(\{\{\w+\.\w+\}\})/)
    .map((part, i) => (i % 2 === 0 ? encoded(part) : part))
    .join('');
}

const GARBAGE = [
  'Bearer',
  'Bearer  ',
  'bearer x',
  'Basic YTpi',
  'Bearer a.b.c',
  'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.',
  'Bearer gantry_ak_',
  `Bearer gantry_ak_${'a'.repeat(38)}`,
  `Bearer gantry_ak_${'\u00e9'.repeat(38)}`,
  'Bearer {{own.access_key_id}}',
  `Bearer ${'x'.repeat(16_000)}`,
];

/** Signed by an unknown key. Rare, because the api looks for the key for up to a second. */
const UNKNOWN_SIGNER = `Bearer eyJhbGciOiJFZERTQSIsImtpZCI6InQifQ.${'e'.repeat(4_000)}.x`;
const garbage = fc.oneof(
  { weight: 60, arbitrary: fc.constantFrom(...GARBAGE) },
  { weight: 1, arbitrary: fc.constant(UNKNOWN_SIGNER) },
);

function anyCredential({ admin }: Operation) {
  return {
    bearer: fc.oneof(
      { weight: admin ? 12 : 3, arbitrary: fc.constant<Bearer>('operator') },
      { weight: admin ? 1 : 6, arbitrary: fc.constantFrom<Bearer>('owner', 'member', 'accessKey') },
      {
        weight: 1,
        arbitrary: fc.constantFrom<Bearer | undefined>(...ROLES, ...STRANGERS, undefined),
      },
    ),
    authorization: fc.option(garbage, { nil: undefined, freq: 19 }),
    headers: anyHeaders,
  };
}

const anyHeaders: fc.Arbitrary<Record<string, string>> = fc.oneof(
  { weight: 6, arbitrary: fc.constant({}) },
  {
    weight: 4,
    arbitrary: fc
      .oneof(
        { weight: 2, arbitrary: fc.stringMatching(/^key-[a-z0-9]{12}$/) },
        { weight: 2, arbitrary: fc.constant('the-same-key') },
        {
          weight: 2,
          arbitrary: fc.constantFrom('', 'x'.repeat(255), 'x'.repeat(256), 'schl\u00fcssel', 'a b'),
        },
      )
      .map((key) => ({ 'idempotency-key': key })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Record<string, string>>(
      { 'x-forwarded-for': '1.2.3.4, \u00ff, '.repeat(50) },
      { 'x-request-id': 'mine' },
      { accept: 'text/html', 'accept-encoding': 'br;q=x' },
      { 'transfer-encoding': 'chunked' },
      { 'content-length': '-1' },
      { 'content-length': '99999999999999999999' },
      { 'content-encoding': 'gzip' },
      { 'x-http-method-override': 'DELETE' },
    ),
  },
);

const JSON_TYPE = 'application/json';

function anyBody({ method, body }: Operation): fc.Arbitrary<Body | undefined> {
  if (method === 'GET') return fc.constant(undefined);
  const junk = fc.oneof(
    fc.jsonValue().map(toJsonText),
    fc.constantFrom('', ' ', '{', '{}', '[]', 'null', '"', '{"a":1}{', 'a=b', '\ufeff{}', '\0'),
    fc.string({ unit: 'binary' }),
    fc.constant('['.repeat(100_000)),
  );
  const arbitrary = fc.oneof(
    { weight: 2, arbitrary: junk.map((text) => jsonBody(text)) },
    {
      weight: 1,
      arbitrary: fc.constant({ ...jsonBody('{"name":"\xff\xfe"}'), encoding: 'latin1' as const }),
    },
    { weight: 1, arbitrary: wrongType(body ? goodBody(body) : junk.map((text) => jsonBody(text))) },
    { weight: 1, arbitrary: fc.constant(undefined) },
  );
  if (!body)
    return fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, { weight: 2, arbitrary });
  return fc.oneof(
    { weight: 7, arbitrary: goodBody(body) },
    { weight: 9, arbitrary: nearlyValid(body).map((value) => jsonBody(toJsonText(value))) },
    { weight: 3, arbitrary },
  );
}

function goodBody(schema: NonNullable<Operation['body']>): fc.Arbitrary<Body> {
  return valid(schema).map((value) => jsonBody(toJsonText(value)));
}

function jsonBody(text: string): Body {
  return { contentType: JSON_TYPE, text, encoding: 'utf8' };
}

function wrongType(body: fc.Arbitrary<Body>): fc.Arbitrary<Body> {
  const types = [
    ...[undefined, '', 'text/plain', 'application/xml', 'multipart/form-data; boundary=x'],
    ...['application/jsonx', 'application/json; charset=utf-16', 'APPLICATION/JSON', 'json'],
    'application/merge-patch+json',
  ];
  return fc
    .tuple(body, fc.constantFrom(...types))
    .map(([given, contentType]) => ({ ...given, contentType }));
}
