import { sha256 } from '@gantry/daemon/secrets';
import { newId } from '@gantry/model/ids';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { makeTenant, makeUser, type TestTenant, type TestUser } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isKey } from '../../auth/keys.ts';

let api: TestApi;
let acme: TestTenant;
let other: TestTenant;
let path: string;

beforeAll(async () => {
  api = await startTestApi();
  acme = await makeTenant(api, 'acme');
  other = await makeTenant(api, 'other');
  path = `/projects/${acme.projectId}/access-keys`;
});
afterAll(() => api.stop());

const create = (body: unknown, { bearer = acme.accessKey, headers = {} } = {}) =>
  api.call('POST', path, { bearer, body, headers });
const list = (bearer = acme.accessKey) => api.call('GET', path, { bearer });
const remove = (id: string, bearer = acme.accessKey) =>
  api.call('DELETE', `${path}/${id}`, { bearer });

describe('creating an access key', () => {
  it('shows the secret once, and it works at once', async () => {
    const { status, body } = await create({ name: 'ci' });
    expect(status).toBe(200);
    expect(body).toEqual({
      id: expect.any(String),
      name: 'ci',
      role: 'member',
      access_key: expect.any(String),
      created_at: expect.stringMatching(/Z$/),
      expires_at: '',
      created_by: '',
      creator: '',
      created_with_key: expect.any(String),
      last_used_at: '',
      last_used_ip: '',
      tags: {},
    });
    expect(isKey('access_key', body.access_key)).toBe(true);
    expect((await list(body.access_key)).status).toBe(200);
    const listed = await list();
    const { access_key: secret, last_used_at: _at, last_used_ip: _ip, ...rest } = body;
    expect(listed.body.items).toContainEqual(expect.objectContaining(rest));
    expect(JSON.stringify(listed.body)).not.toContain(secret);
  });

  it('stores only a hash of the secret', async () => {
    const { body } = await create({ name: 'hashed' });
    const [row] = await api.sql`select to_json(k)::text as row from access_keys k
      where id = ${body.id}`;
    expect(row?.['row']).toContain(sha256(body.access_key));
    expect(row?.['row']).not.toContain(body.access_key);
  });

  it('returns the same secret for the same Idempotency-Key, stored encrypted', async () => {
    const headers = { 'idempotency-key': 'key-once' };
    const first = await create({ name: 'repeated' }, { headers });
    const second = await create({ name: 'repeated' }, { headers });
    expect(second.status).toBe(200);
    expect(second.body).toEqual(first.body);
    const kept = await api.sql`select to_json(i)::text as row from idempotency_keys i
      where key = 'key-once'`;
    expect(kept).toHaveLength(1);
    expect(kept[0]?.['row']).not.toContain(first.body.access_key);
    expect(kept[0]?.['row']).not.toContain('repeated');
  });

  it('creates a read-only key that cannot write', async () => {
    const { body } = await create({ name: 'reader', role: 'read-only' });
    expect(body.role).toBe('read-only');
    expect((await create({ name: 'more' }, { bearer: body.access_key })).status).toBe(403);
    expect((await list(body.access_key)).status).toBe(200);
  });

  it('creates a key that stops working when it expires', async () => {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const { body } = await create({ name: 'short', expires_at: expiresAt });
    expect(body.expires_at).toBe(expiresAt);
    expect((await list(body.access_key)).status).toBe(200);
    await api.sql`update access_keys set expires_at = now() - interval '1 s' where id = ${body.id}`;
    api.deps.callers.forget();
    expect((await list(body.access_key)).status).toBe(401);
  });

  it.each([
    ['expires_at', { name: 'x', expires_at: '2001-01-01T00:00:00Z' }],
    ['expires_at', { name: 'x', expires_at: 'tomorrow' }],
    ['role', { name: 'x', role: 'owner' }],
    ['name', { name: 'Not A Name' }],
    ['hash', { name: 'x', hash: 'mine' }],
  ])('is refused with an error that names the field: %s', async (field, body) => {
    const reply = await create(body);
    expect(reply.status).toBe(400);
    expect(reply.body.details).toMatchObject([{ field }]);
  });

  it('needs a free name in the project', async () => {
    await create({ name: 'twice' });
    expect((await create({ name: 'twice' })).body.code).toBe('name_taken');
  });

  it('is allowed for members of the project', async () => {
    for (const bearer of [acme.readOnlyKey, acme.readOnly.token]) {
      expect((await create({ name: 'no' }, { bearer })).status).toBe(403);
    }
    expect((await create({ name: 'no' }, { bearer: other.accessKey })).status).toBe(404);
    expect((await create({ name: 'by-user' }, { bearer: acme.member.token })).status).toBe(200);
  });
});

describe('the creator of an access key', () => {
  const byMember = (name: string, body = {}) =>
    create({ name, ...body }, { bearer: acme.member.token });
  const setRole = async (user: TestUser, role: string | null) => {
    await api.sql`delete from members where user_id = ${user.id}`;
    if (role !== null) {
      await api.sql`insert into members (id, user_id, organization_id, project_id, role)
        values (${newId()}, ${user.id}, ${acme.organizationId}, ${acme.projectId}, ${role})`;
    }
    api.deps.callers.forget();
  };

  it('is shown, also for a key that was created with a key', async () => {
    const parent = (await byMember('parent')).body;
    const creator = { created_by: acme.member.id, creator: acme.member.email };
    expect(parent).toMatchObject({ ...creator, created_with_key: '' });
    const child = await create({ name: 'child' }, { bearer: parent.access_key });
    expect(child.body).toMatchObject({ ...creator, created_with_key: parent.id });
  });

  it('limits what the key may do, at any time', async () => {
    const { access_key: bearer } = (await byMember('limited')).body;
    const { access_key: child } = (await create({ name: 'limited-child' }, { bearer })).body;
    const statuses = async () => [
      (await list(bearer)).status,
      (await create({ name: `x-${newId()}` }, { bearer })).status,
      (await list(child)).status,
    ];
    expect(await statuses()).toEqual([200, 200, 200]);
    await setRole(acme.member, 'read-only');
    expect(await statuses()).toEqual([200, 403, 200]);
    await setRole(acme.member, null);
    expect(await statuses()).toEqual([401, 401, 401]);
    await setRole(acme.member, 'member');
    expect(await statuses()).toEqual([200, 200, 200]);
  });

  it('who is deleted takes the keys along, and their places in the quota', async () => {
    const leaver = await makeUser(api, 'leaver@acme.test');
    await setRole(leaver, 'member');
    const used = async () =>
      (
        await api.sql`select used from quotas
      where project_id = ${acme.projectId} and type = 'access_keys'`
      )[0]?.['used'];
    const before = await used();
    const { access_key: bearer } = (await create({ name: 'left' }, { bearer: leaver.token })).body;
    const { access_key: child } = (await create({ name: 'left-child' }, { bearer })).body;
    expect((await list(child)).status).toBe(200);
    const operator = await makeUser(api, 'operator@gantry.test', { operator: true });
    await api.call('DELETE', `/admin/users/${leaver.id}`, { bearer: operator.token });
    expect([(await list(bearer)).status, (await list(child)).status]).toEqual([401, 401]);
    expect(await used()).toBe(before);
  });

  it('does not end before the key: neither by expiry nor by deletion', async () => {
    const expires_at = new Date(Date.now() + 3_600_000).toISOString();
    const parent = (await byMember('short-lived', { expires_at })).body;
    const bearer = parent.access_key;
    const later = new Date(Date.now() + 7_200_000).toISOString();
    const refused = await create({ name: 'longer', expires_at: later }, { bearer });
    expect([refused.status, refused.body.details]).toMatchObject([400, [{ field: 'expires_at' }]]);
    const child = (await create({ name: 'as-long' }, { bearer })).body;
    expect(child.expires_at).toBe(expires_at);
    await remove(parent.id);
    expect((await list(child.access_key)).status).toBe(401);
  });
});

it('the last use of a key is shown with its address', async () => {
  const proxied = await startTestApi({ trustedProxies: 1 });
  const tenant = await makeTenant(proxied, 'proxied');
  const keys = `/projects/${tenant.projectId}/access-keys`;
  const use = (ip: string) =>
    proxied.call('GET', keys, { bearer: tenant.readOnlyKey, headers: { 'x-forwarded-for': ip } });
  const shown = async () => {
    await proxied.deps.keyUses.flush();
    const { body } = await proxied.call('GET', keys, { bearer: tenant.owner.token });
    return body.items.find(({ role }: { role: string }) => role === 'read-only');
  };
  expect(await shown()).toMatchObject({ last_used_at: '', last_used_ip: '' });
  await use('198.51.100.1');
  const first = await shown();
  expect(first).toMatchObject({
    last_used_at: expect.stringMatching(/Z$/),
    last_used_ip: '198.51.100.1',
  });
  await use('2001:db8::7');
  expect(await shown()).toMatchObject({ last_used_ip: '2001:db8::7' });
  await proxied.stop();
});

describe('deleting an access key', () => {
  it('takes effect at once', async () => {
    const { body } = await create({ name: 'revoked' });
    expect((await list(body.access_key)).status).toBe(200);
    const deleted = await remove(body.id);
    expect(deleted.status).toBe(200);
    expect(deleted.body).toMatchObject({ id: body.id, name: 'revoked' });
    expect(deleted.body).not.toHaveProperty('access_key');
    expect((await list(body.access_key)).status).toBe(401);
    expect((await remove(body.id)).status).toBe(404);
  });

  it('is allowed for the key itself', async () => {
    const { body } = await create({ name: 'removes-itself' });
    expect((await remove(body.id, body.access_key)).status).toBe(200);
    expect((await list(body.access_key)).status).toBe(401);
  });

  it('is not_found for keys of other projects', async () => {
    const foreign = await api.call('GET', `/projects/${other.projectId}/access-keys`, {
      bearer: other.accessKey,
    });
    expect((await remove(foreign.body.items[0].id)).status).toBe(404);
    expect((await remove(foreign.body.items[0].id, acme.readOnlyKey)).status).toBe(403);
  });
});
