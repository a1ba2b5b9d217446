import { newId } from '@gantry/model/ids';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { hashPassword } from '../auth/passwords.ts';

let api: TestApi;
let hash: string;
let email: string;
const PASSWORD = 'correct horse battery';

beforeAll(async () => {
  api = await startTestApi();
  hash = await hashPassword(PASSWORD);
});
afterAll(() => api.stop());
beforeEach(async () => {
  email = await addUser();
});

async function addUser(): Promise<string> {
  const id = newId();
  await api.sql`insert into users (id, email, password_hash) values (${id}, ${`${id}@example.test`}, ${hash})`;
  return `${id}@example.test`;
}
const grant = async (body: object) => (await api.call('POST', '/auth/token', { body })).body;
const logIn = (by = email) => grant({ grant_type: 'password', email: by, password: PASSWORD });
const refresh = (token: string) => grant({ grant_type: 'refresh_token', refresh_token: token });
const list = async (bearer: string) =>
  (await api.call('GET', '/auth/logins', { bearer })).body.items as {
    id: string;
    current: boolean;
  }[];
const end = (bearer: string, id: string) => api.call('DELETE', `/auth/logins/${id}`, { bearer });
const statusOf = async (bearer: string) => (await api.call('GET', '', { bearer })).status;

it('a user sees each login once, also after it was refreshed, and which one asks', async () => {
  const here = await logIn();
  const { access_token: there } = await refresh((await logIn()).refresh_token);
  const [first, second, ...more] = await list(here.access_token);
  expect(more).toEqual([]);
  expect([first?.current, second?.current]).toEqual([true, false]);
  expect((await list(there)).map(({ current }) => current)).toEqual([false, true]);
  const { body } = await api.call('GET', `/auth/logins/${first?.id}`, {
    bearer: here.access_token,
  });
  expect(body).toEqual(first);
});

it('ending a login ends its tokens, also those of a refresh, and no others', async () => {
  const here = await logIn();
  const lost = await logIn();
  const refreshed = await refresh(lost.refresh_token);
  const [, other] = await list(here.access_token);
  expect((await end(here.access_token, other?.id ?? '')).status).toBe(200);
  expect(await statusOf(lost.access_token)).toBe(401);
  expect(await statusOf(refreshed.access_token)).toBe(401);
  expect((await refresh(refreshed.refresh_token)).access_token).toBeUndefined();
  expect(await statusOf(here.access_token)).toBe(200);
  expect(await list(here.access_token)).toHaveLength(1);
  expect(await statusOf((await logIn()).access_token)).toBe(200);
});

it('a refresh token that is used twice ends the access tokens of its login', async () => {
  const stolen = await logIn();
  const { access_token } = await refresh(stolen.refresh_token);
  await refresh(stolen.refresh_token);
  api.deps.callers.forget();
  expect(await statusOf(access_token)).toBe(401);
});

it('the logins of others do not exist for a user, and cannot be ended', async () => {
  const mine = await logIn();
  const theirs = await logIn(await addUser());
  const [login] = await list(theirs.access_token);
  expect((await end(mine.access_token, login?.id ?? '')).status).toBe(404);
  expect(await statusOf(theirs.access_token)).toBe(200);
});
