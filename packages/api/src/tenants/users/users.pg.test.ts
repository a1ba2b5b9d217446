import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { makeTenant, makeUser, type TestUser } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let api: TestApi;
let operator: TestUser;

beforeAll(async () => {
  api = await startTestApi();
  operator = await makeUser(api, 'operator@gantry.test', { operator: true });
});
afterAll(() => api.stop());

const PASSWORD = 'correct horse battery';
const admin = (method: string, path: string, body?: unknown) =>
  api.call(method, `/admin/users${path}`, {
    bearer: operator.token,
    ...(body === undefined ? {} : { body }),
  });
const login = (email: string, password = PASSWORD) =>
  api.call('POST', '/auth/token', { body: { grant_type: 'password', email, password } });
const refresh = (token: string) =>
  api.call('POST', '/auth/token', {
    body: { grant_type: 'refresh_token', refresh_token: token },
  });
const whoAmI = (bearer: string) => api.call('GET', '', { bearer });

describe('creating a user', () => {
  it('lets the user log in with the e-mail in any case, and does not store the password', async () => {
    const { status, body } = await admin('POST', '', {
      email: 'Ada@Example.test',
      password: PASSWORD,
    });
    expect(status).toBe(200);
    expect(body).toEqual({
      id: expect.any(String),
      email: 'ada@example.test',
      operator: false,
      operator_role: '',
      pending: false,
      created_at: expect.stringMatching(/Z$/),
    });
    expect((await admin('GET', '')).body.items).toContainEqual(body);
    const tokens = await login('ADA@example.test');
    expect(tokens.status).toBe(200);
    expect((await whoAmI(tokens.body.access_token)).body.user).toMatchObject({ id: body.id });
    const [row] = await api.sql`select to_json(u)::text as row from users u where id = ${body.id}`;
    expect(row?.['row']).toContain('$argon2id$');
    expect(row?.['row']).not.toContain(PASSWORD);
  });

  it('is refused for a taken e-mail, a short password or a malformed e-mail', async () => {
    const user = { email: 'grace@example.test', password: PASSWORD };
    await admin('POST', '', user);
    const taken = await admin('POST', '', { ...user, email: 'GRACE@example.test' });
    expect([taken.status, taken.body.code]).toEqual([409, 'name_taken']);
    const short = await admin('POST', '', { email: 'x@example.test', password: 'elevenchars' });
    expect(short.body.details).toMatchObject([{ field: 'password' }]);
    const guessed = await admin('POST', '', { email: 'x@example.test', password: 'Password1234!' });
    expect([guessed.status, guessed.body.details]).toMatchObject([400, [{ field: 'password' }]]);
    const wrong = await admin('POST', '', { email: 'nowhere', password: PASSWORD });
    expect(wrong.body.details).toMatchObject([{ field: 'email' }]);
  });
});

describe('changing a user', () => {
  it('replaces the password and revokes every login of the old one', async () => {
    const { body } = await admin('POST', '', { email: 'alan@example.test', password: PASSWORD });
    const before = (await login('alan@example.test')).body;
    const changed = await admin('PATCH', `/${body.id}`, { password: 'another long password' });
    expect(changed.body).toEqual(body);
    expect((await login('alan@example.test')).status).toBe(401);
    expect((await login('alan@example.test', 'another long password')).status).toBe(200);
    expect((await refresh(before.refresh_token)).status).toBe(401);
    const weak = await admin('PATCH', `/${body.id}`, { password: 'alan-alan-2024' });
    expect([weak.status, weak.body.details]).toMatchObject([400, [{ field: 'password' }]]);
    expect((await login('alan@example.test', 'another long password')).status).toBe(200);
  });

  it('changes the operator right at once and keeps logins', async () => {
    const { body } = await admin('POST', '', { email: 'joan@example.test', password: PASSWORD });
    const tokens = (await login('joan@example.test')).body;
    const list = () => api.call('GET', '/admin/users', { bearer: tokens.access_token });
    expect((await list()).status).toBe(403);
    expect((await admin('PATCH', `/${body.id}`, { operator: true })).body.operator).toBe(true);
    expect((await list()).status).toBe(200);
    await admin('PATCH', `/${body.id}`, { operator: false });
    expect((await list()).status).toBe(403);
    expect((await refresh(tokens.refresh_token)).status).toBe(200);
  });
});

describe('deleting a user', () => {
  it('ends logins at once and removes memberships', async () => {
    const tenant = await makeTenant(api, 'acme');
    const { body } = await admin('POST', '', { email: 'mary@example.test', password: PASSWORD });
    await api.call('POST', `/organizations/${tenant.organizationId}/members`, {
      bearer: tenant.owner.token,
      body: { email: 'mary@example.test', role: 'owner' },
    });
    const tokens = (await login('mary@example.test')).body;
    expect((await whoAmI(tokens.access_token)).status).toBe(200);
    expect((await admin('DELETE', `/${body.id}`)).body).toEqual(body);
    expect((await whoAmI(tokens.access_token)).status).toBe(401);
    expect((await refresh(tokens.refresh_token)).status).toBe(401);
    expect((await login('mary@example.test')).status).toBe(401);
    expect(await api.sql`select from members where user_id = ${body.id}`).toHaveLength(0);
    expect((await admin('DELETE', `/${body.id}`)).status).toBe(404);
    expect((await admin('PATCH', `/${body.id}`, { operator: true })).status).toBe(404);
  });

  it("is refused for the caller's own user, and so is giving up the operator right", async () => {
    expect((await admin('DELETE', `/${operator.id}`)).body.code).toBe('conflict');
    const demoted = await admin('PATCH', `/${operator.id}`, { operator: false });
    expect(demoted.body.code).toBe('conflict');
    expect((await whoAmI(operator.token)).body.user.operator).toBe(true);
  });
});
