import type { Queryable } from '@gantry/db/connect';
import { newId } from '@gantry/model/ids';
import { type Reply, startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { makeTenant, makeUser, SSH_PUBLIC_KEY, type TestUser } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';

let api: TestApi;
let operator: TestUser;
let vmId: string;

beforeAll(async () => {
  api = await startTestApi();
  operator = await makeUser(api, 'operator@gantry.test', { operator: true });
  const acme = await makeTenant(api, 'acme');
  const { body } = await api.call('POST', `/projects/${acme.projectId}/vms`, {
    bearer: acme.accessKey,
    body: {
      name: 'public',
      type: 'a40.1x',
      location: 'eu-north-a',
      image: 'debian-12',
      ssh_public_key: SSH_PUBLIC_KEY,
    },
  });
  vmId = body.operation.metadata.id;
});
beforeEach(() => api.sql`delete from public_addresses`);
afterAll(() => api.stop());

const call = (method: string, path = '', body?: unknown) =>
  api.call(method, `/admin/public-addresses${path}`, { bearer: operator.token, body });
const add = (cidr: string, location = 'eu-north-a') => call('POST', '', { location, cidr });
const list = async (query = '') => (await call('GET', query)).body;
const addressesOf = ({ items }: { items: { address: string }[] }) =>
  items.map(({ address }) => address);

/** Gives the VM the address, as the scheduler does. */
const give = (sql: Queryable, id: string) => sql`update public_addresses
  set network_interface_id = (select id from network_interfaces where vm_id = ${vmId}) where id = ${id}`;

/** Starts a request while a transaction is open that it must wait for, then commits. */
async function whileOpen(
  write: (tx: Queryable) => Promise<unknown>,
  request: () => Promise<Reply>,
): Promise<Reply> {
  const { waiting } = await api.sql.begin(async (tx) => {
    await write(tx);
    const started = request();
    await vi.waitFor(
      async () => {
        const blocked = await api.sql`select from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`;
        expect(blocked).toHaveLength(1);
      },
      { timeout: 30_000 },
    );
    return { waiting: started };
  });
  return await waiting;
}

describe('adding public addresses', () => {
  it('adds every address of the block in order, including the first and the last', async () => {
    const added = await add('203.0.113.8/29');
    expect([added.status, added.body]).toEqual([200, { added: 8, total: 8 }]);
    const expected = [8, 9, 10, 11, 12, 13, 14, 15].map((last) => `203.0.113.${last}`);
    expect(addressesOf(await list())).toEqual(expected);
  });

  it.each([
    ['198.51.100.7/32', 1, '198.51.100.7', '198.51.100.7'],
    ['255.255.252.0/22', 1024, '255.255.252.0', '255.255.255.255'],
  ])('accepts %s: %i addresses', async (cidr, size, first, last) => {
    expect((await add(cidr)).body).toEqual({ added: size, total: size });
    const [range] = await api.sql`select host(min(address)) as first, host(max(address)) as last
      from public_addresses`;
    expect(range).toEqual({ first, last });
  });

  it('keeps addresses that the location already has', async () => {
    await add('203.0.113.0/31');
    const before = await list();
    await give(api.sql, before.items[0].id);
    expect((await add('203.0.113.0/30')).body).toEqual({ added: 2, total: 4 });
    expect((await add('203.0.113.0/30')).body).toEqual({ added: 0, total: 4 });
    const after = (await list()).items;
    expect(after.slice(0, 2)).toEqual([{ ...before.items[0], vm_id: vmId }, before.items[1]]);
    expect((await add('198.51.100.0/32', 'us-east-a')).body).toEqual({ added: 1, total: 1 });
  });

  it('adds no address if another location has one of them', async () => {
    await add('203.0.113.6/32', 'us-east-a');
    const refused = await add('203.0.113.0/29');
    expect([refused.status, refused.body.code]).toEqual([409, 'conflict']);
    expect(refused.body.message).toMatch(/203\.0\.113\.6 .*us-east-a/);
    expect(addressesOf(await list())).toEqual(['203.0.113.6']);
  });

  it('adds no address if another location gets one of them at the same time', async () => {
    const refused = await whileOpen(
      (tx) => tx`insert into public_addresses (id, location, address)
        values (${newId()}, 'us-east-a', '203.0.113.6')`,
      () => add('203.0.113.0/29'),
    );
    expect([refused.status, refused.body.code]).toEqual([409, 'conflict']);
    expect(addressesOf(await list())).toEqual(['203.0.113.6']);
  });

  it('refuses an unknown location', async () => {
    const refused = await add('203.0.113.0/29', 'mars');
    expect([refused.status, refused.body.code]).toEqual([422, 'unknown_location']);
  });

  it.each([
    ...['10.0.0.0/21', '10.0.0.0/0', '10.0.0.1/31', '10.0.0.0', '10.0.0.0/33', '010.0.0.0/24'],
    ...['2001:db8::/64', 'x', '', '10.0.0.0/24 ', '10.0.0.0/24/24'],
  ])('refuses the block "%s"', async (cidr) => {
    const { status, body } = await add(cidr);
    expect(status).toBe(400);
    expect(body.details).toMatchObject([{ field: 'cidr' }]);
    expect(await list()).toEqual({ items: [], next_page_token: '' });
  });
});

describe('the list of public addresses', () => {
  it('shows which VM has which address, filtered by location and in pages', async () => {
    await add('203.0.113.0/30');
    await add('198.51.100.0/31', 'us-east-a');
    const { items } = await list('?location=eu-north-a');
    await give(api.sql, items[1].id);
    const first = await list('?location=eu-north-a&limit=3');
    expect(first.items).toEqual([
      { ...items[0], address: '203.0.113.0', location: 'eu-north-a', vm_id: '' },
      { ...items[1], address: '203.0.113.1', location: 'eu-north-a', vm_id: vmId },
      { ...items[2], address: '203.0.113.2', location: 'eu-north-a', vm_id: '' },
    ]);
    expect(Object.keys(first.items[0]).toSorted()).toEqual([
      'address',
      'id',
      'location',
      'project_id',
      'vm_id',
    ]);
    const second = await list(`?location=eu-north-a&limit=3&page_token=${first.next_page_token}`);
    expect(addressesOf(second)).toEqual(['203.0.113.3']);
    expect(second.next_page_token).toBe('');
    const all = addressesOf(await list());
    expect(all).toHaveLength(6);
    expect(all).toEqual(expect.arrayContaining(['198.51.100.0', '198.51.100.1']));
    expect(addressesOf(await list('?location=mars'))).toEqual([]);
  });
});

describe('removing a public address', () => {
  it('removes a free address', async () => {
    await add('203.0.113.0/31');
    const { items } = await list();
    const removed = await call('DELETE', `/${items[0].id}`);
    expect([removed.status, removed.body]).toEqual([200, items[0]]);
    expect((await list()).items).toEqual([items[1]]);
    expect((await call('DELETE', `/${items[0].id}`)).status).toBe(404);
    expect((await call('DELETE', '/seven')).status).toBe(400);
  });

  it('is refused while a VM has the address, or gets it at the same time', async () => {
    await add('203.0.113.0/32');
    const { items } = await list();
    const [{ id }] = items;
    const raced = await whileOpen(
      (tx) => give(tx, id),
      () => call('DELETE', `/${id}`),
    );
    expect([raced.status, raced.body.code]).toEqual([409, 'conflict']);
    const refused = await call('DELETE', `/${id}`);
    expect([refused.status, refused.body.code]).toEqual([409, 'conflict']);
    expect((await list()).items).toEqual([{ ...items[0], vm_id: vmId }]);
    await api.sql`update public_addresses set network_interface_id = null`;
    expect((await call('DELETE', `/${id}`)).status).toBe(200);
  });
});
