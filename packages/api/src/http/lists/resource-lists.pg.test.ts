import { newId } from '@gantry/model/ids';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { finishDisk, finishRule } from '@gantry/testkit/make/finished';
import { diskBody, LOCATION, newName, ruleBody } from '@gantry/testkit/make/request-bodies';
import { makeTenant, SSH_PUBLIC_KEY, type TestTenant } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let api: TestApi;
let tenant: TestTenant;
let stranger: TestTenant;
let networkId: string;

const call = (method: string, path: string, body?: unknown, owner = tenant) =>
  api.call(method, `/projects/${owner.projectId}${path}`, { bearer: owner.accessKey, body });

beforeAll(async () => {
  api = await startTestApi();
  [tenant, stranger] = await Promise.all([makeTenant(api, 'acme'), makeTenant(api, 'other')]);
  const network = { name: newName(), cidr: '10.99.0.0/16' };
  networkId = (await call('POST', '/vpc/networks', network)).body.id;
  for (const last of [1, 2, 3]) {
    await api.sql`insert into public_addresses (id, location, address)
      values (${newId()}, ${LOCATION}, ${`198.51.100.${last}`})`;
  }
});
afterAll(() => api.stop());

let made = 0;
const KINDS: { path: string; body: () => Record<string, unknown>; patched?: true }[] = [
  { path: '/disks', body: () => diskBody({ size: '1GiB' }), patched: true },
  {
    path: '/vpc/networks',
    body: () => ({ name: newName(), cidr: `10.${++made}.0.0/16` }),
    patched: true,
  },
  {
    path: '/vpc/subnets',
    body: () => ({
      ...{ name: newName(), cidr: `10.99.${++made}.0/24`, location: LOCATION },
      vpc_network_id: networkId,
    }),
    patched: true,
  },
  {
    path: '/vpc/public-addresses',
    body: () => ({ name: newName(), location: LOCATION }),
    patched: true,
  },
  { path: '/vpc/firewall-rules', body: () => ruleBody(networkId), patched: true },
  {
    path: '/ssh-keys',
    body: () => ({ name: newName(), public_key: SSH_PUBLIC_KEY }),
    patched: true,
  },
  { path: '/access-keys', body: () => ({ name: newName() }), patched: true },
];

type Item = { id: string; name: string; tags: Record<string, string> };

/** Creates a resource, finishes its operation if it has one, and returns its id. */
async function create(path: string, body: unknown): Promise<string> {
  const reply = await call('POST', path, body);
  expect(reply.status).toBe(200);
  const id = reply.body.operation?.metadata.id ?? reply.body.id;
  if (path === '/disks') await finishDisk(api.sql, id);
  if (path.endsWith('rules')) await finishRule(api.sql, id);
  return id;
}
const list = async (path: string, query: string, owner = tenant): Promise<Item[]> =>
  (await call('GET', `${path}?${query}`, undefined, owner)).body.items;

describe.each(KINDS)('the list $path', ({ path, body, patched }) => {
  const tagged = [{ env: 'prod', team: 'a' }, { env: 'prod', team: 'b' }, { env: 'test' }];
  let ids: string[];
  let names: unknown[];

  beforeAll(async () => {
    const bodies = tagged.map((tags) => ({ ...body(), tags }));
    names = bodies.map((one) => (one as { name?: unknown }).name);
    ids = [];
    for (const one of bodies) ids.push(await create(path, one));
  });
  const idsOf = async (query: string, owner = tenant) =>
    (await list(path, query, owner)).map(({ id }) => id);

  it('shows the tags of each item, and is filtered by them', async () => {
    const [first = '', second = '', third = ''] = ids;
    expect((await call('GET', `${path}/${first}`)).body.tags).toEqual(tagged[0]);
    expect(await idsOf('tag=env:prod')).toEqual([first, second]);
    expect(await idsOf('tag=env:prod&tag=team:b')).toEqual([second]);
    expect(await idsOf('tag=env:test')).toEqual([third]);
    expect(await idsOf('tag=env:prod', stranger)).toEqual([]);
    expect((await call('GET', `${path}?tag=env`)).status).toBe(400);
  });

  it('is filtered by ids and names, which must all match', async () => {
    const [first = '', second = ''] = ids;
    expect(await idsOf(`ids=${second},${first}`)).toEqual([first, second]);
    expect(await idsOf(`names=${names[0]},${names[2]}`)).toEqual([first, ids[2]]);
    expect(await idsOf(`ids=${second}&names=${names[0]}`)).toEqual([]);
    expect(await idsOf(`ids=${first}`, stranger)).toEqual([]);
  });

  it('has pages, with the same items in the same order as without', async () => {
    const query = `ids=${ids}`;
    const found: string[] = [];
    for (let token = ''; ; ) {
      const next = token && `&page_token=${token}`;
      const page = (await call('GET', `${path}?${query}&limit=1${next}`)).body;
      expect(page.items).toHaveLength(1);
      found.push(page.items[0].id);
      token = page.next_page_token;
      if (token === '') break;
    }
    expect(found).toEqual(ids);
    expect((await call('GET', `${path}?${query}`)).body).toMatchObject({
      items: ids.map((id) => ({ id })),
      next_page_token: '',
    });
  });

  it('is sorted with the newest first if the client wants that, also in pages', async () => {
    const query = `sort=-created_at&ids=${ids}`;
    const newestFirst = ids.toReversed();
    expect(await idsOf(query)).toEqual(newestFirst);
    const first = (await call('GET', `${path}?${query}&limit=2`)).body;
    const rest = (await call('GET', `${path}?${query}&page_token=${first.next_page_token}`)).body;
    expect([...first.items, ...rest.items].map(({ id }: Item) => id)).toEqual(newestFirst);
    expect((await call('GET', `${path}?sort=price`)).body.details[0].field).toBe('sort');
  });

  it('is sorted by name in both directions, also if an item of the last page is gone', async () => {
    const byName = names.map(String).toSorted();
    const namesOf = (items: Item[]) => items.map(({ name }) => name);
    for (const [sort, expected] of [
      ['name', byName],
      ['-name', byName.toReversed()],
    ] as const) {
      const query = `sort=${sort}&ids=${ids}`;
      expect(namesOf(await list(path, query))).toEqual(expected);
      const first = (await call('GET', `${path}?${query}&limit=1`)).body;
      const token = encodeURIComponent(first.next_page_token);
      const rest = (await call('GET', `${path}?${query}&page_token=${token}`)).body;
      expect(namesOf([...first.items, ...rest.items])).toEqual(expected);
      // The token has the name, so the item itself is not needed.
      const others = ids.filter((id) => id !== first.items[0].id);
      expect(namesOf(await list(path, `sort=${sort}&ids=${others}&page_token=${token}`))).toEqual(
        expected.slice(1),
      );
      const mixed = await call('GET', `${path}?page_token=${token}`);
      expect([mixed.status, mixed.body.details?.[0]?.field]).toEqual([400, 'page_token']);
    }
    const byTime = await call('GET', `${path}?sort=name&page_token=${ids[0]}`);
    expect([byTime.status, byTime.body.details?.[0]?.field]).toEqual([400, 'page_token']);
  });

  it('refuses a creation with a tag that is not valid, and creates nothing', async () => {
    const before = await idsOf('');
    const tags = JSON.parse('{"__proto__": "x"}');
    const reply = await call('POST', path, { ...body(), tags });
    expect([reply.status, reply.body.details[0].field]).toEqual([400, 'tags.__proto__']);
    expect(await idsOf('')).toEqual(before);
  });

  it.runIf(patched)('shows tags that a PATCH has replaced at once, and nothing else', async () => {
    const [first = ''] = ids;
    const before = (await call('GET', `${path}/${first}`)).body;
    const { status, body: reply } = await call('PATCH', `${path}/${first}`, { tags: { new: '' } });
    expect(status).toBe(200);
    expect(reply.operation?.state ?? 'SUCCEEDED').toBe('SUCCEEDED');
    const after = (await call('GET', `${path}/${first}`)).body;
    const updated = 'updated_at' in after && { updated_at: after.updated_at };
    expect(after).toEqual({ ...before, tags: { new: '' }, ...updated });
    expect((await call('PATCH', `${path}/${first}`, { tags: { '-': '' } })).status).toBe(400);
  });
});
