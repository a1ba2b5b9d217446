import { newId } from '@gantry/model/ids';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { makeTenant, makeUser, type TestTenant } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

let api: TestApi;
let tenant: TestTenant;
let operatorToken: string;
let tenants = 0;

beforeAll(async () => {
  api = await startTestApi();
  operatorToken = (await makeUser(api, 'operator@gantry.test', { operator: true })).token;
});
afterAll(() => api.stop());
beforeEach(async () => {
  tenants += 1;
  tenant = await makeTenant(api, `tenant-${tenants}`);
});

const call = (method: string, path = '', body?: object, headers = {}) =>
  api.call(method, `/projects/${tenant.projectId}/webhooks${path}`, {
    ...{ bearer: tenant.accessKey, headers, ...(body && { body }) },
  });
const BODY = { name: 'deploys', url: 'https://example.com/hook' };

describe('webhooks', () => {
  it('the secret is shown at the creation and at no other time, and is stored encrypted', async () => {
    const { status, body } = await call('POST', '', { ...BODY, event_types: ['vm', 'vm'] });
    expect([status, body]).toEqual([
      200,
      {
        ...{ ...BODY, event_types: ['vm'], description: '', tags: {}, state: 'enabled' },
        ...{ disabled_at: '', disabled_reason: '', old_secret_expires_at: '' },
        id: expect.any(String),
        created_at: expect.stringMatching(/Z$/),
        secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
      },
    ]);
    const { secret, ...shown } = body;
    expect((await call('GET', `/${body.id}`)).body).toEqual(shown);
    expect((await call('GET')).body).toEqual({ items: [shown], next_page_token: '' });
    const [row] = await api.sql`select w::text as text from webhooks w where id = ${body.id}`;
    expect(row?.['text']).not.toContain(secret.slice(6));
  });

  it('a webhook changes only if it has the ETag of If-Match', async () => {
    const { id } = (await call('POST', '', BODY)).body;
    const { headers } = await call('GET', `/${id}`);
    const match = { 'if-match': headers.get('etag') ?? '' };
    const change = {
      description: 'for deploys',
      tags: { env: 'test' },
      url: 'https://example.org/',
    };
    const changed = await call('PATCH', `/${id}`, change, match);
    expect([changed.status, changed.body]).toMatchObject([200, { ...change, event_types: [] }]);
    expect((await call('PATCH', `/${id}`, { description: 'x' }, match)).status).toBe(412);
    const [line] = await api.sql`select action, resource_id from audit_logs
      where project_id = ${tenant.projectId} and status = 200 order by id desc limit 1`;
    expect(line).toEqual({ action: 'webhooks.change', resource_id: id });
  });

  it('names are unique, and a project has ten webhooks', async () => {
    await call('POST', '', BODY);
    expect((await call('POST', '', BODY)).body.code).toBe('name_taken');
    for (let count = 1; count < 10; count += 1)
      expect((await call('POST', '', { ...BODY, name: `w-${count}` })).status).toBe(200);
    expect((await call('POST', '', { ...BODY, name: 'one-more' })).body.code).toBe('conflict');
    const names = (await call('GET', '?names=w-1,w-2')).body.items;
    expect(names.map(({ name }: { name: string }) => name)).toEqual(['w-1', 'w-2']);
    const first = (await call('GET', '?limit=4')).body;
    const rest = (await call('GET', `?page_token=${first.next_page_token}`)).body;
    expect([first.items.length, rest.items.length]).toEqual([4, 6]);
  });

  it.each([
    [{ url: 'http://example.com/' }, 'url'],
    [{ url: 'https://10.0.0.1/' }, 'url'],
    [{ url: 'https://[::ffff:169.254.169.254]/' }, 'url'],
    [{ url: 'https://me:secret@example.com/' }, 'url'],
    [{ url: 'nonsense' }, 'url'],
    [{ event_types: ['host'] }, 'event_types.0'],
    [{ name: 'Not A Name' }, 'name'],
    [{ description: 'x'.repeat(256) }, 'description'],
    [{ secret: 'whsec_mine' }, 'secret'],
  ])('%j is refused, and names the field %s', async (change, field) => {
    const { status, body } = await call('POST', '', { ...BODY, ...change });
    expect([status, body.details[0].field]).toEqual([400, field]);
    expect((await call('GET')).body.items).toEqual([]);
  });

  it.each([
    [{}, 'since'],
    [{ since: new Date().toISOString(), after_event_id: '0-1-1' }, 'since'],
    [{ since: '2999-01-01T00:00:00Z' }, 'since'],
    [{ since: 'yesterday' }, 'since'],
    [{ after_event_id: 'x' }, 'after_event_id'],
    [{ after_event_id: '7-1-1' }, 'after_event_id'],
    [{ after_event_id: '0-99999999999-1' }, 'after_event_id'],
  ])('a replay with %j is refused, and names the field %s', async (body, field) => {
    const { id } = (await call('POST', '', BODY)).body;
    const reply = await call('POST', `/${id}:replay`, body);
    expect([reply.status, reply.body.details[0].field]).toEqual([400, field]);
  });

  it('a deleted webhook is gone with its deliveries', async () => {
    const { id } = (await call('POST', '', BODY)).body;
    expect((await call('POST', `/${id}:test`)).status).toBe(200);
    expect((await call('GET', `/${id}/deliveries`)).body.items).toHaveLength(1);
    expect((await call('DELETE', `/${id}`)).body).toMatchObject({ id });
    expect((await call('GET', `/${id}/deliveries`)).status).toBe(404);
    const left = await api.sql`select from webhook_deliveries where webhook_id = ${id}`;
    expect(left).toHaveLength(0);
  });
});

it('webhooks of operators are those of no project', async () => {
  const admin = (method: string, path = '', body?: object) =>
    api.call(method, `/admin/webhooks${path}`, {
      ...{ bearer: operatorToken, ...(body && { body }) },
    });
  const { id: ofProject } = (await call('POST', '', BODY)).body;
  const made = await admin('POST', '', { ...BODY, event_types: ['host', 'devices'] });
  expect(made.status).toBe(200);
  expect((await admin('POST', '', BODY)).body.code).toBe('name_taken');
  const { items } = (await admin('GET')).body;
  expect(items.map(({ id }: { id: string }) => id)).toEqual([made.body.id]);
  expect((await admin('GET', `/${ofProject}`)).status).toBe(404);
  expect((await call('GET', `/${made.body.id}`)).status).toBe(404);
  expect((await call('POST', `/${made.body.id}:test`)).status).toBe(404);
  expect((await admin('GET', `/${newId()}/deliveries`)).status).toBe(404);
});
