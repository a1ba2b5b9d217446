import { newId } from '@gantry/model/ids';
import { badField, refusal } from '@gantry/testkit/api/read-errors';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { makeTenant, makeUser } from '@gantry/testkit/make/tenants';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { hashPassword } from '../auth/passwords.ts';
import { totpCode, totpStep } from '../auth/totp.ts';

let api: TestApi;
let email: string;
let userId: string;
const PASSWORD = 'correct horse battery';
const NEW_PASSWORD = 'another long password';
let hash: string;

beforeAll(async () => {
  api = await startTestApi();
  hash = await hashPassword(PASSWORD);
});
afterAll(() => api.stop());
beforeEach(async () => {
  userId = newId();
  email = `${userId}@example.test`;
  await api.sql`insert into users (id, email, password_hash) values (${userId}, ${email}, ${hash})`;
});
afterEach(() => {
  vi.useRealTimers();
});

const grant = (body: object) => api.call('POST', '/auth/token', { body });
const logIn = (changes: object = {}) =>
  grant({ grant_type: 'password', email, password: PASSWORD, ...changes });
const refresh = (token: string) => grant({ grant_type: 'refresh_token', refresh_token: token });
const whoAmI = (bearer: string) => api.call('GET', '', { bearer });
const post = (path: string, bearer: string, body?: object) =>
  api.call('POST', path, { bearer, ...(body ? { body } : {}) });

describe('changing your own password', () => {
  const change = (bearer: string, changes: object = {}) =>
    post('/auth/password', bearer, {
      ...{ current_password: PASSWORD, new_password: NEW_PASSWORD },
      ...changes,
    });

  it('ends every login and every token, and returns new ones that work', async () => {
    const here = (await logIn()).body;
    const elsewhere = (await logIn()).body;
    const changed = await change(here.access_token);
    expect(changed.status).toBe(200);
    for (const old of [here, elsewhere]) {
      expect((await whoAmI(old.access_token)).status).toBe(401);
      expect((await refresh(old.refresh_token)).status).toBe(401);
    }
    expect((await whoAmI(changed.body.access_token)).body.user.id).toBe(userId);
    expect((await refresh(changed.body.refresh_token)).status).toBe(200);
    expect((await logIn()).status).toBe(401);
    expect((await logIn({ password: NEW_PASSWORD })).status).toBe(200);
  });

  it('needs the present password and a good new one, and changes nothing without them', async () => {
    const { access_token } = (await logIn()).body;
    expect(badField(await change(access_token, { current_password: 'wrong' }))).toEqual([
      400,
      'current_password',
    ]);
    for (const weak of ['short', 'Password1234!', `${email}1`]) {
      expect(badField(await change(access_token, { new_password: weak }))).toEqual([
        400,
        'new_password',
      ]);
    }
    expect((await whoAmI(access_token)).status).toBe(200);
    expect((await logIn()).status).toBe(200);
  });

  it('has the limits of a login, so that a stolen token does not reveal the password', async () => {
    const { access_token } = (await logIn()).body;
    const statuses = [];
    for (let n = 0; n < 30; n += 1) {
      statuses.push((await change(access_token, { current_password: 'wrong' })).status);
    }
    expect(statuses.filter((status) => status === 400)).toHaveLength(20);
    expect(statuses.at(-1)).toBe(429);
  });

  it('is for users, not for access keys', async () => {
    const tenant = await makeTenant(api, `keys-${userId}`);
    expect(refusal(await change(tenant.accessKey))).toEqual([403, 'forbidden']);
  });
});

describe('logging out', () => {
  it('ends every login and every token of the user, and of no other', async () => {
    const here = (await logIn()).body;
    const elsewhere = (await logIn()).body;
    const other = await makeUser(api, `other-${email}`);
    expect((await post('/auth/logout', here.access_token)).status).toBe(200);
    for (const old of [here, elsewhere]) {
      expect((await whoAmI(old.access_token)).status).toBe(401);
      expect((await refresh(old.refresh_token)).status).toBe(401);
    }
    expect((await whoAmI(other.token)).status).toBe(200);
    expect((await whoAmI((await logIn()).body.access_token)).status).toBe(200);
  });

  it('ends a login that begins at the same time, or comes before it', async () => {
    const { access_token, refresh_token } = (await logIn()).body;
    const replies = await Promise.all([
      refresh(refresh_token),
      post('/auth/logout', access_token),
      refresh(refresh_token),
    ]);
    const won = replies.filter(({ body }) => body.refresh_token !== undefined);
    for (const { body } of won) {
      expect((await refresh(body.refresh_token)).status).toBe(401);
      expect((await whoAmI(body.access_token)).status).toBe(401);
    }
  });

  it('can be done by operators', async () => {
    const { access_token } = (await logIn()).body;
    const operator = await makeUser(api, `op-${email}`, { operator: true });
    const reply = await post(`/admin/users/${userId}:log-out`, operator.token);
    expect(reply.body).toMatchObject({ id: userId });
    expect((await whoAmI(access_token)).status).toBe(401);
  });
});

describe('a second factor', () => {
  const enable = async () => {
    const { access_token: bearer } = (await logIn()).body;
    const { secret, url } = (await post('/auth/totp', bearer, { password: PASSWORD })).body;
    expect(url).toBe(
      `otpauth://totp/${encodeURIComponent(`Gantry:${email}`)}?secret=${secret}&issuer=Gantry`,
    );
    const confirmed = await post('/auth/totp:confirm', bearer, { totp: codeOf(secret) });
    expect(confirmed.status).toBe(200);
    return { bearer, secret, codes: confirmed.body.recovery_codes as string[] };
  };
  const codeOf = (secret: string, steps = 0) => totpCode(secret, totpStep(Date.now()) + steps);
  /** Moves to the next step, because the code of a step works once. */
  const nextStep = () => vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 30_000 });

  it('is asked for after the password, and only after it was confirmed', async () => {
    const { access_token: bearer } = (await logIn()).body;
    await post('/auth/totp', bearer, { password: PASSWORD });
    expect((await logIn()).status).toBe(200);
    const wrong = await post('/auth/totp:confirm', bearer, { totp: '000000' });
    expect(badField(wrong)).toEqual([400, 'totp']);
    const { secret } = await enable();
    nextStep();
    expect(refusal(await logIn())).toEqual([401, 'totp_required']);
    expect(refusal(await logIn({ password: 'wrong password' }))).toEqual([401, 'bad_credential']);
    expect(refusal(await logIn({ totp: '000000' }))).toEqual([401, 'bad_credential']);
    expect((await logIn({ totp: codeOf(secret) })).status).toBe(200);
  });

  it('accepts each code once, also if it is sent twice at the same time', async () => {
    const { secret } = await enable();
    nextStep();
    const totp = codeOf(secret);
    const replies = await Promise.all([logIn({ totp }), logIn({ totp }), logIn({ totp })]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
    expect((await logIn({ totp })).status).toBe(401);
    nextStep();
    expect((await logIn({ totp: codeOf(secret) })).status).toBe(200);
  });

  it('has recovery codes, each for one login', async () => {
    const { bearer, codes } = await enable();
    expect(codes).toHaveLength(10);
    expect(new Set(codes).size).toBe(10);
    const [first = '', second = ''] = codes;
    expect((await logIn({ totp: first })).status).toBe(200);
    expect((await logIn({ totp: first })).status).toBe(401);
    expect((await logIn({ totp: second.toUpperCase().replaceAll('-', '') })).status).toBe(200);
    const state = await api.call('GET', '/auth/totp', { bearer });
    expect(state.body).toEqual({ enabled: true, recovery_codes_left: 8 });
    const [row] = await api.sql`select to_json(t)::text as row from user_totps t
      where user_id = ${userId}`;
    for (const code of codes) expect(row?.['row']).not.toContain(code);
  });

  it('counts wrong codes as guesses', async () => {
    await enable();
    const statuses = [];
    for (let n = 0; n < 30; n += 1) statuses.push((await logIn({ totp: '000000' })).status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(20);
  });

  it('is needed to change the password', async () => {
    const { bearer, secret } = await enable();
    const body = { current_password: PASSWORD, new_password: NEW_PASSWORD };
    expect(refusal(await post('/auth/password', bearer, body))).toEqual([401, 'totp_required']);
    expect((await logIn({ password: NEW_PASSWORD })).body.code).toBe('bad_credential');
    nextStep();
    const changed = await post('/auth/password', bearer, { ...body, totp: codeOf(secret) });
    expect(changed.status).toBe(200);
  });

  it('is removed with the password and a code, or by an operator', async () => {
    const { bearer, secret } = await enable();
    nextStep();
    const remove = (body: object) => post('/auth/totp:remove', bearer, body);
    expect((await remove({ password: PASSWORD, totp: '000000' })).status).toBe(401);
    expect((await remove({ password: 'wrong', totp: codeOf(secret) })).status).toBe(400);
    expect((await remove({ password: PASSWORD, totp: codeOf(secret) })).status).toBe(200);
    expect((await logIn()).status).toBe(200);
    await enable();
    const operator = await makeUser(api, `op-${email}`, { operator: true });
    await post(`/admin/users/${userId}:remove-totp`, operator.token);
    expect((await logIn()).status).toBe(200);
  });

  it('is stored sealed', async () => {
    const { secret } = await enable();
    const [row] = await api.sql`select sealed_secret from user_totps where user_id = ${userId}`;
    expect(row?.['sealed_secret']).not.toContain(secret);
    expect(api.deps.secrets.unseal('totp-secret', row?.['sealed_secret'])).toBe(secret);
  });
});
