import { newId } from '@gantry/model/ids';
import { badField, refusal } from '@gantry/testkit/api/read-errors';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { makeUser, type TestUser } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildApp } from '../app.ts';
import { newKey } from '../auth/keys.ts';

let api: TestApi;
let admin: TestUser;
let support: TestUser;
let email: string;
let userId: string;
const PASSWORD = 'correct horse battery';

beforeAll(async () => {
  api = await startTestApi();
  admin = await makeUser(api, 'admin@gantry.test', { operator: true });
  support = await makeUser(api, 'support@gantry.test', { operator: true, operatorRole: 'support' });
});
afterAll(() => api.stop());
beforeEach(async () => {
  email = `${newId()}@example.test`;
  userId = (await post('/admin/users', { email }, support)).body.id;
});

const post = (path: string, body: object, user?: TestUser) =>
  api.call('POST', path, { body, ...(user ? { bearer: user.token } : {}) });
const invite = async (id = userId, by = support) =>
  (await post(`/admin/users/${id}:invite`, {}, by)).body;
const accept = (token: string, password = PASSWORD) =>
  post('/auth/invitations:accept', { token, password });
const logIn = (password = PASSWORD) =>
  post('/auth/token', { grant_type: 'password', email, password });

describe('an invitation', () => {
  it('lets a user without a password choose one', async () => {
    expect((await logIn('')).status).toBe(401);
    const { url, token, user_id, expires_at } = await invite();
    expect(user_id).toBe(userId);
    expect(url).toBe(`http://api.test/invitations/${token}`);
    expect(Date.parse(expires_at) - Date.now()).toBeGreaterThan(71 * 3_600_000);
    const accepted = await accept(token);
    expect([accepted.status, accepted.body]).toEqual([200, { email }]);
    expect((await logIn()).status).toBe(200);
  });

  it('works once, also if it is used twice at the same time', async () => {
    const { token } = await invite();
    const replies = await Promise.all([accept(token), accept(token), accept(token)]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
    expect(refusal(await accept(token))).toEqual([401, 'bad_credential']);
  });

  it('is refused if it is expired, replaced, invented or of another kind', async () => {
    const { token: first } = await invite();
    const { token: second } = await invite();
    expect((await accept(first)).status).toBe(401);
    await api.sql`update invitations set expires_at = now() - interval '1 s' where user_id = ${userId}`;
    for (const token of [second, newKey('invitation'), newKey('refresh_token'), 'x']) {
      expect((await accept(token)).status).toBe(401);
    }
    expect((await logIn()).status).toBe(401);
  });

  it('is not used up by a weak password', async () => {
    const { token } = await invite();
    for (const weak of ['short', 'Password1234!', email]) {
      expect(badField(await accept(token, weak))).toEqual([400, 'password']);
    }
    expect((await accept(token)).status).toBe(200);
  });

  it('replaces a password and ends all logins', async () => {
    await accept((await invite()).token);
    const { access_token } = (await logIn()).body;
    const { token } = await invite();
    expect((await logIn()).status).toBe(200);
    expect((await accept(token, 'another long password')).status).toBe(200);
    expect((await api.call('GET', '', { bearer: access_token })).status).toBe(401);
    expect((await logIn()).status).toBe(401);
  });

  it('is stored as a hash, and its acceptance is in the audit log', async () => {
    const { token } = await invite();
    const [row] = await api.sql`select to_json(i)::text as row from invitations i
      where user_id = ${userId}`;
    expect(row?.['row']).not.toContain(token);
    await accept(token);
    const lines = await api.sql`select actor, status from audit_logs
      where action = 'invitations.accept' and actor_id = ${userId}`;
    expect(lines).toEqual([{ actor: email, status: 200 }]);
  });

  it('for an operator is made only by admins, who alone create operators', async () => {
    expect((await post(`/admin/users/${admin.id}:invite`, {}, support)).status).toBe(403);
    expect((await post(`/admin/users/${support.id}:invite`, {}, admin)).status).toBe(200);
    const body = { email: `x${email}`, operator: true, operator_role: 'read-only' };
    expect((await post('/admin/users', body, support)).status).toBe(403);
    expect((await post('/admin/users', body, admin)).body).toMatchObject({
      operator_role: 'read-only',
    });
  });
});

describe('the page behind an invitation', () => {
  const page = async (token: string, form?: Record<string, string>) => {
    const response = await buildApp(api.deps).request(
      `/invitations/${token}`,
      form && { method: 'POST', body: new URLSearchParams(form) },
    );
    return { status: response.status, text: await response.text() };
  };

  it('shows a form, and sets the password that is entered twice', async () => {
    const { token } = await invite();
    expect(await page(token)).toMatchObject({ status: 200, text: expect.stringContaining(email) });
    const differ = await page(token, { password: PASSWORD, again: 'something else' });
    expect(differ).toMatchObject({ status: 400, text: expect.stringContaining('differ') });
    const weak = await page(token, { password: 'Password1234!', again: 'Password1234!' });
    expect(weak).toMatchObject({ status: 400, text: expect.stringContaining('easy to guess') });
    expect((await page(token, { password: PASSWORD, again: PASSWORD })).status).toBe(200);
    expect((await logIn()).status).toBe(200);
    expect((await page(token)).status).toBe(401);
  });
});
