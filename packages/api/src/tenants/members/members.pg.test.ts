import { newId } from '@gantry/model/ids';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { makeTenant, makeUser, type TestTenant, type TestUser } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

let api: TestApi;
let acme: TestTenant;
let other: TestTenant;
let guest: TestUser;

beforeAll(async () => {
  api = await startTestApi();
  acme = await makeTenant(api, 'acme');
  other = await makeTenant(api, 'other');
  guest = await makeUser(api, 'guest@example.test');
});
afterAll(() => api.stop());

const path = (tenant: TestTenant) => `/organizations/${tenant.organizationId}/members`;
const list = async (tenant: TestTenant) =>
  (await api.call('GET', path(tenant), { bearer: tenant.owner.token })).body.items;
const add = (body: unknown, bearer = acme.owner.token) =>
  api.call('POST', path(acme), { bearer, body });
const remove = (memberId: string, bearer = acme.owner.token) =>
  api.call('DELETE', `${path(acme)}/${memberId}`, { bearer });

/** Reads outside of a transaction, because a transaction sees the same snapshot all the time. */
async function waitingQueries(): Promise<number> {
  const rows = await api.sql`select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;
  return rows.length;
}

describe('members', () => {
  it('are listed with their roles; owners have no project', async () => {
    const items = await list(acme);
    expect(items).toHaveLength(3);
    expect(items).toContainEqual({
      id: expect.any(String),
      user_id: acme.owner.id,
      email: acme.owner.email,
      role: 'owner',
      project_id: '',
      created_at: expect.stringMatching(/Z$/),
    });
    expect(items).toContainEqual(
      expect.objectContaining({ email: acme.readOnly.email, project_id: acme.projectId }),
    );
  });

  it('are managed by owners; members and keys get 403, strangers 404', async () => {
    for (const bearer of [acme.member.token, acme.readOnly.token, acme.accessKey]) {
      expect((await api.call('GET', path(acme), { bearer })).status).toBe(403);
      expect((await add({ email: guest.email, role: 'owner' }, bearer)).status).toBe(403);
    }
    expect((await api.call('GET', path(acme), { bearer: other.owner.token })).status).toBe(404);
    const [foreign] = await list(other);
    expect((await remove(foreign.id)).status).toBe(404);
  });

  it('gain and lose their rights at once, even if their rights are cached', async () => {
    const organizations = async () =>
      (await api.call('GET', '/organizations', { bearer: guest.token })).body;
    await api.sql`insert into members (id, user_id, organization_id, role)
      values (gen_random_uuid(), ${guest.id}, ${other.organizationId}, 'owner')`;
    expect(await organizations()).toHaveLength(1);
    const { status, body } = await add({
      email: 'Guest@Example.test',
      role: 'read-only',
      project_id: acme.projectId,
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({ user_id: guest.id, email: guest.email, role: 'read-only' });
    expect(await organizations()).toHaveLength(2);
    expect((await remove(body.id)).body).toEqual(body);
    expect(await organizations()).toHaveLength(1);
    expect((await remove(body.id)).status).toBe(404);
  });

  it('can be managed without a payment method', async () => {
    expect(await list(await makeTenant(api, 'unpaid', { paid: false }))).toHaveLength(3);
  });

  it('have at most one role in each organization or project', async () => {
    const member = { email: acme.member.email, role: 'read-only', project_id: acme.projectId };
    expect((await add(member)).body.code).toBe('conflict');
  });

  it.each([
    ['email', { email: 'no address', role: 'owner' }],
    ['role', { email: 'guest@example.test', role: 'operator' }],
    ['project_id', { email: 'guest@example.test', role: 'member' }],
    ['project_id', { email: 'guest@example.test', role: 'read-only' }],
  ])('are refused with an error that names the field: %s', async (field, body) => {
    const reply = await add(body);
    expect(reply.status).toBe(400);
    expect(reply.body.details).toMatchObject([{ field }]);
  });

  it('belong to a project of the organization, owners to none', async () => {
    const foreign = { email: guest.email, role: 'member', project_id: other.projectId };
    expect((await add(foreign)).body.details).toMatchObject([{ field: 'project_id' }]);
    const owner = { email: guest.email, role: 'owner', project_id: acme.projectId };
    expect((await add(owner)).body.details).toMatchObject([{ field: 'project_id' }]);
  });
});

describe('an e-mail address without a user', () => {
  const operator = () => makeUser(api, `${newId()}@gantry.test`, { operator: true });
  const asReader = (email: string) => ({ email, role: 'read-only', project_id: acme.projectId });

  it('gets the same replies as one with a user', async () => {
    const known = await makeUser(api, 'known@example.test');
    const shapes = [];
    for (const email of [known.email, 'unknown@example.test']) {
      const added = await add(asReader(email));
      expect(added).toMatchObject({ status: 200, body: { email, role: 'read-only' } });
      expect(await list(acme)).toContainEqual(added.body);
      const again = await add(asReader(email));
      const removed = await remove(added.body.id);
      expect(removed.body).toEqual(added.body);
      shapes.push([Object.keys(added.body), again.status, again.body.code, removed.status]);
    }
    expect(shapes[0]).toEqual(shapes[1]);
    const left = await api.sql`select from users where email = 'unknown@example.test'`;
    expect(left).toHaveLength(0);
  });

  it('has the role as soon as an operator creates the user', async () => {
    const email = 'later@example.test';
    const { body } = await add(asReader(email));
    const { token: bearer } = await operator();
    const listed = await api.call('GET', '/admin/users?limit=1000', { bearer });
    expect(listed.body.items).toContainEqual(
      expect.objectContaining({ id: body.user_id, email, pending: true }),
    );
    const password = 'correct horse battery';
    const create = () => api.call('POST', '/admin/users', { bearer, body: { email, password } });
    expect((await create()).body).toMatchObject({ id: body.user_id, pending: false });
    expect((await create()).body.code).toBe('name_taken');
    const login = { grant_type: 'password', email, password };
    const tokens = await api.call('POST', '/auth/token', { body: login });
    const own = await api.call('GET', '/projects', { bearer: tokens.body.access_token });
    expect(own.body).toMatchObject([{ id: acme.projectId }]);
  });

  it('counts toward the most members of an organization', async () => {
    const { organizationId } = await makeTenant(api, 'large');
    await api.sql`with u as (insert into users (id, email, password_hash, pending)
        select gen_random_uuid(), 'many-' || n || '@example.test', '', true
        from generate_series(1, 997) n returning id)
      insert into members (id, user_id, organization_id, role)
      select gen_random_uuid(), id, ${organizationId}, 'owner' from u`;
    const { token: bearer } = await operator();
    const body = { email: 'one-more@example.test', role: 'owner' };
    const refused = await api.call('POST', `/organizations/${organizationId}/members`, {
      bearer,
      body,
    });
    expect([refused.status, refused.body.code]).toEqual([409, 'conflict']);
  });
});

describe('the last owner', () => {
  it('cannot be removed', async () => {
    const owner = (await list(acme)).find(({ role }: { role: string }) => role === 'owner');
    const refused = await remove(owner.id);
    expect(refused.status).toBe(409);
    expect(refused.body.code).toBe('conflict');
    expect(await list(acme)).toContainEqual(owner);
  });

  it('stays if both of two owners are removed concurrently', async () => {
    const operator = await makeUser(api, 'operator@gantry.test', { operator: true });
    const second = await add({ email: guest.email, role: 'owner' });
    const first = (await list(acme)).find(
      ({ email }: { email: string }) => email === acme.owner.email,
    );
    // The lock holds both requests back, so that neither sees the change of the other.
    const { removals } = await api.sql.begin(async (tx) => {
      await tx`select from members where organization_id = ${acme.organizationId} for update`;
      const started = [first.id, second.body.id].map((id) => remove(id, operator.token));
      await vi.waitFor(async () => expect(await waitingQueries()).toBe(2), { timeout: 30_000 });
      return { removals: started };
    });
    const statuses = (await Promise.all(removals)).map(({ status }) => status);
    expect(statuses.sort()).toEqual([200, 409]);
    const owners = await api.sql`select from members
      where organization_id = ${acme.organizationId} and role = 'owner'`;
    expect(owners).toHaveLength(1);
  });
});
