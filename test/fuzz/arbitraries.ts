import fc from 'fast-check';
import type { JsonSchema } from './document.ts';
import { KNOWN_GOOD, own } from './known-good.ts';
import { NASTY_MEMBERS, nastyValue, RawJson } from './nasty.ts';

/**
 * Converts a JSON schema to an arbitrary of the values that it allows. `name` is the name of the
 * member, `owner` the schema of its object.
 */
export function valid(schema: JsonSchema, name = '', owner = ''): fc.Arbitrary<unknown> {
  const whole = KNOWN_GOOD[`${name}[]`];
  if (whole && schema.type === 'array') return whole;
  if (schema.enum) return fc.constantFrom(...schema.enum);
  const options = schema.oneOf ?? schema.anyOf;
  const known = KNOWN_GOOD[`${owner}.${name}`] ?? KNOWN_GOOD[name];
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === 'object') return KNOWN_GOOD[schema.title ?? ''] ?? validObject(schema);
  if (type === 'array') return validArray(schema, name, owner);
  if (known) return known;
  // The alternatives of a union have the name of its schema: TokenRequest is one of two objects.
  if (options) {
    return fc.oneof(...options.map((o) => valid({ ...titled(schema), ...o }, name, owner)));
  }
  switch (type) {
    case 'string':
      return validString(schema, name);
    case 'integer':
      return fc.integer({ min: schema.minimum ?? 0, max: schema.maximum ?? 1_000_000 });
    case 'number':
      return fc.integer({ min: schema.minimum ?? 0, max: schema.maximum ?? 1_000_000 });
    case 'boolean':
      return fc.boolean();
    default:
      return fc.jsonValue();
  }
}

function titled({ title }: JsonSchema): JsonSchema {
  return title === undefined ? {} : { title };
}

function validObject({ properties = {}, required = [], title }: JsonSchema) {
  const members = Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, valid(schema, name, title)]),
  );
  return fc.record(members, { requiredKeys: required, noNullPrototype: true });
}

function validArray(schema: JsonSchema, name: string, owner: string) {
  return fc.array(valid(schema.items ?? {}, name, owner), {
    minLength: schema.minItems ?? 0,
    maxLength: Math.min(schema.maxItems ?? 3, 3),
  });
}

function validString(schema: JsonSchema, name: string): fc.Arbitrary<string> {
  if (schema.format === 'uuid') return name.endsWith('_id') ? own(name) : fc.uuid();
  if (schema.pattern) return fc.stringMatching(new RegExp(schema.pattern, 'u'));
  switch (schema.format) {
    case 'date-time':
      return fc.date({ noInvalidDate: true }).map((date) => date.toISOString());
    case 'date':
      return fc.date({ noInvalidDate: true }).map((date) => date.toISOString().slice(0, 10));
    case 'email':
      return fc.emailAddress();
    default:
      return fc.string({
        minLength: schema.minLength ?? 0,
        maxLength: Math.min(schema.maxLength ?? 40, 40),
      });
  }
}

/** The same value with one leaf replaced, a member removed or an unknown member added. */
export function nearlyValid(schema: JsonSchema): fc.Arbitrary<unknown> {
  const which = fc.nat({ max: 63 });
  return fc.oneof(
    {
      weight: 8,
      arbitrary: fc
        .tuple(valid(schema), which, nastyValue)
        .map(([value, index, nasty]) => replaceLeaf(value, index, nasty)),
    },
    {
      weight: 2,
      arbitrary: fc.tuple(valid(schema), which).map(([value, index]) => leaveOut(value, index)),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(valid(schema), fc.constantFrom(...NASTY_MEMBERS), nastyValue)
        .map(([value, member, nasty]) => withMember(value, member, nasty)),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(valid(schema), fc.constantFrom(manyMembers, longMember))
        .map(([value, more]) => ({ ...(value as object), ...more })),
    },
  );
}

/** Marks that show up in a reply that repeats the value. */
const manyMembers = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`member${i}`, i]));
const longMember = { ['x'.repeat(100_000)]: 1 };

type Path = (string | number)[];

/** Returns every value that is not an object or an array. An empty one counts as a leaf. */
function leaves(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null || value instanceof RawJson) return [path];
  const inner = Object.entries(value).flatMap(([key, item]) => leaves(item, [...path, key]));
  return inner.length === 0 ? [path] : inner;
}

function replaceLeaf(value: unknown, index: number, replacement: unknown): unknown {
  const all = leaves(value);
  return replaceAt(value, all[index % all.length] ?? [], replacement);
}

function replaceAt(value: unknown, [key, ...rest]: Path, replacement: unknown): unknown {
  if (key === undefined) return replacement;
  if (Array.isArray(value)) {
    return value.map((item, i) => (i === Number(key) ? replaceAt(item, rest, replacement) : item));
  }
  const object = value as Record<string, unknown>;
  return { ...object, [key]: replaceAt(object[key], rest, replacement) };
}

function leaveOut(value: unknown, index: number): unknown {
  const entries = Object.entries(value as object);
  return Object.fromEntries(entries.filter((_, i) => i !== index % Math.max(1, entries.length)));
}

/** Defines the member instead of assigning it, so that `__proto__` becomes a member. */
function withMember(value: unknown, member: string, content: unknown): unknown {
  return Object.defineProperty({ ...(value as object) }, member, {
    ...{ value: content, enumerable: true, configurable: true, writable: true },
  });
}

/** JSON text, including values that JSON.stringify cannot write. */
export function toJsonText(value: unknown): string {
  if (value instanceof RawJson) return value.text;
  if (Array.isArray(value)) return `[${value.map(toJsonText).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).filter(([, content]) => content !== undefined);
    return `{${members.map(([key, content]) => `${JSON.stringify(key)}:${toJsonText(content)}`).join(',')}}`;
  }
  return JSON.stringify(value) ?? 'null';
}
