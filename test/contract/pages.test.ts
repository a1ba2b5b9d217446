import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ERROR_KINDS } from '@gantry/model/errors';
import { DEVICE_STATES, HOST_ADMIN_STATES, HOST_STATES } from '@gantry/model/host-states';
import {
  BACKUP_STATES,
  DISK_STATES,
  DISK_TYPES,
  EVENT_TYPES,
  FIREWALL_RULE_STATES,
  IMAGE_STATES,
  OPERATION_NAMES,
  OPERATION_STATES,
  QUOTA_TYPES,
  SNAPSHOT_STATES,
} from '@gantry/model/states';
import { VM_STATES } from '@gantry/model/vm-life/states';
import { describe, expect, it } from 'vitest';
import { type JsonSchema, OPERATIONS } from '../fuzz/document.ts';

const folder = path.resolve(import.meta.dirname, '../../docs/contract');
const pages = new Map(
  readdirSync(folder).map((name) => [name, readFileSync(path.join(folder, name), 'utf8')]),
);
const text = [...pages.values()].join('\n');
/** Everything that the pages show as code. */
const terms = new Set([...text.matchAll(/`([^`\n]+)`/g)].map(([, term = '']) => term));

function missing(words: readonly string[]): string[] {
  return words.filter((word) => !terms.has(word));
}

/** The names of all members of a schema, those of nested objects included. */
function membersOf(schema: JsonSchema): string[] {
  const own = Object.entries(schema.properties ?? {});
  const nested = [...own.map(([, member]) => member), ...(schema.items ? [schema.items] : [])];
  const unions = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  return [...own.map(([name]) => name), ...[...nested, ...unions].flatMap(membersOf)];
}

/** A member may also be shown inside a short JSON body, such as `{"name", "cidr"}`. */
function isShown(member: string): boolean {
  return terms.has(member) || text.includes(`"${member}"`);
}

describe('docs/contract', () => {
  const shown = [...text.matchAll(/`(GET|POST|PATCH|PUT|DELETE) (\/v0\.1[^`\s]*)`/g)].map(
    ([, method = '', route = '']) => `${method} ${route}`,
  );

  it('names every route of the API, and no other', () => {
    const served = OPERATIONS.map(({ method, path: route }) => `${method.toUpperCase()} ${route}`);
    expect([...new Set(shown)].sort()).toEqual(served.sort());
  });

  it('names every field of every request and reply', () => {
    const unnamed = OPERATIONS.flatMap(({ id, body, replies }) =>
      [...(body ? [body] : []), ...replies.values()]
        .flatMap(membersOf)
        .filter((member) => !isShown(member))
        .map((member) => `${id}: ${member}`),
    );
    expect(unnamed).toEqual([]);
  });

  it('names every query parameter', () => {
    const names = OPERATIONS.flatMap(({ query }) => query.map(({ name }) => name));
    expect([...new Set(names)].filter((name) => !isShown(name))).toEqual([]);
  });

  it('lists every error code in errors.md', () => {
    const page = pages.get('errors.md') ?? '';
    const listed = [...page.matchAll(/^\| \d{3} +\| `(\w+)`/gm)].map(([, code]) => code);
    expect(listed.sort()).toEqual(Object.keys(ERROR_KINDS).sort());
  });

  it.each([
    ['VM state', VM_STATES],
    ['disk type', DISK_TYPES],
    ['disk state', DISK_STATES],
    ['snapshot state', SNAPSHOT_STATES],
    ['backup state', BACKUP_STATES],
    ['image state', IMAGE_STATES],
    ['firewall rule state', FIREWALL_RULE_STATES],
    ['operation name', OPERATION_NAMES],
    ['operation state', OPERATION_STATES],
    ['event type', EVENT_TYPES],
    ['quota type', QUOTA_TYPES],
    ['host state', HOST_STATES],
    ['host admin state', HOST_ADMIN_STATES],
    ['device state', DEVICE_STATES],
  ])('names every %s', (_, values) => {
    expect(missing(values)).toEqual([]);
  });

  it('links every page from its index', () => {
    const index = pages.get('README.md') ?? '';
    const others = [...pages.keys()].filter((name) => name !== 'README.md');
    expect(others.filter((name) => !index.includes(`(${name})`))).toEqual([]);
  });
});
