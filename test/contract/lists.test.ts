import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type JsonSchema, OPERATIONS } from '../fuzz/document.ts';

const P = '/v0.1/projects/{project_id}';
const PAGES = ['limit', 'page_token'];
const ORDER = 'sort';

/** The lists of a project that have pages, or whose items tenants create. */
const lists = OPERATIONS.filter(
  ({ method, path: route, query, replies }) =>
    method === 'GET' &&
    route.startsWith(P) &&
    replies.get(200)?.properties?.['items'] !== undefined &&
    (query.some(({ name }) => name === 'limit') || isServed('POST', route)),
);

function isServed(method: string, route: string): boolean {
  return OPERATIONS.some((one) => one.method === method && one.path === route);
}

/** The route of one item of the list; undefined if there is none. */
function routeOfOne(list: string): string | undefined {
  const rest = (route: string) => route.slice(list.length);
  return OPERATIONS.find(
    ({ method, path: route }) =>
      method === 'GET' && route.startsWith(`${list}/`) && /^\/\{\w+\}$/.test(rest(route)),
  )?.path;
}

/** The rows of the table, as the OpenAPI document has them. */
const rows = lists.map(({ path: route, query }) => {
  const limit = query.find(({ name }) => name === 'limit');
  const pages = !limit ? '' : limit.schema.default === undefined ? 'optional' : 'yes';
  const filters = query.map(({ name }) => name).filter((name) => ![...PAGES, ORDER].includes(name));
  return [
    `\`${route.replace(P, 'P')}\``,
    pages,
    filters.map((name) => `\`${name}\``).join(', '),
    routeOfOne(route) ? 'yes' : '',
  ];
});

describe('docs/contract/README.md#lists', () => {
  it('names the pages, the filters and the route of one item of every list', () => {
    const page = path.resolve(import.meta.dirname, '../../docs/contract/README.md');
    const [, section = ''] = readFileSync(page, 'utf8').split('## Lists');
    const [, table = ''] = section.split(/\n\n(?=\| list)/);
    const shown = (table.split('\n\n')[0] ?? '')
      .split('\n')
      .slice(2)
      .map((row) =>
        row
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim()),
      );
    expect(shown).toEqual(rows);
  });

  it.each(
    lists.flatMap(({ path: route, query }) => (isServed('POST', route) ? [{ route, query }] : [])),
  )(
    '$route has pages, an order, the filters ids and names, and a route of one item',
    ({ route, query }) => {
      const names = query.map(({ name }) => name);
      expect(names).toEqual(expect.arrayContaining([...PAGES, ORDER, 'ids', 'names']));
      expect(routeOfOne(route)).toBeDefined();
    },
  );
});

/** Their lines are read from the newest to the oldest, and are no things that a client looks up by name. */
const HISTORIES =
  /\/(operations|events|audit-logs|deliveries|receipts|device-receipts|rollouts\/\{rollout_id\}\/hosts)$/;
/** The names of these are unique, and their index has them in their order. */
const OF_ONE_OWNER = /^\/v0\.1\/(projects\/\{project_id\}|auth|admin\/webhooks$)/;

describe('every list with pages, of tenants and of operators', () => {
  it.each(
    OPERATIONS.filter(
      ({ method, query }) => method === 'GET' && query.some(({ name }) => name === 'limit'),
    ).map(({ path: route, query, replies }) => ({ route, query, reply: replies.get(200) })),
  )('$route has the same pages, order and filters', ({ route, query, reply }) => {
    const names = query.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(PAGES));
    expect(Object.keys(reply?.properties ?? {})).toEqual(['items', 'next_page_token']);
    if (HISTORIES.test(route)) return;
    expect(names).toEqual(expect.arrayContaining([ORDER, 'ids']));
    const hasNames = itemOf(reply)?.['name'] !== undefined;
    expect(names.includes('names')).toBe(hasNames);
    const byName = hasNames && OF_ONE_OWNER.test(route) ? ['name', '-name'] : [];
    const order = query.find(({ name }) => name === ORDER)?.schema;
    expect(order?.enum).toEqual(['created_at', '-created_at', ...byName]);
  });
});

/** Logs: their lines are read in order, and the stream of events continues after one. */
const LOGS = /\/(events|audit-logs)$|^\/v0\.1\/admin\/devices\/\{device_id\}\/receipts$/;

describe('GET of one thing by its id', () => {
  it.each(
    OPERATIONS.filter(
      ({ method, path: route, replies }) =>
        method === 'GET' && itemOf(replies.get(200))?.['id'] !== undefined && !LOGS.test(route),
    ).map(({ path: route }) => ({ route })),
  )('is served for the items of $route', ({ route }) => {
    expect(routeOfOne(route)).toBeDefined();
  });
});

function itemOf(list: JsonSchema | undefined): Record<string, JsonSchema> | undefined {
  return (list?.items ?? list?.properties?.['items']?.items)?.properties;
}
