import { connect } from '@gantry/db/connect';
import { newId } from '@gantry/model/ids';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { makeAccessKey, makeTenant, type TestTenant } from '@gantry/testkit/make/tenants';
import { decodeJwt, generateKeyPair, SignJWT } from 'jose';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createAccessTokens, TOKEN_LIFETIME_S } from '../auth/access-tokens.ts';
import { createCallers } from '../auth/caller.ts';
import { newKey } from '../auth/keys.ts';
import { hashPassword } from '../auth/passwords.ts';

let api: TestApi;
let tenant: TestTenant;
const EMAIL = 'ada@example.test';
const PASSWORD = 'correct horse battery';

beforeAll(async () => {
  api = await startTestApi();
  tenant = await makeTenant(api, 'acme');
  await api.sql`insert into users (id, email, password_hash)
    values (${newId()}, ${EMAIL}, ${await hashPassword(PASSWORD)})`;
});
afterAll(() => api.stop());
afterEach(() => {
  vi.useRealTimers();
});

/** Moves only the clock of the process; timers and the database are not affected. */
const passTime = (ms: number) => {
  const later = Date.now() + ms;
  vi.useFakeTimers({ toFake: ['Date'], now: later });
};
const grant = (body: unknown) => api.call('POST', '/auth/token', { body });
const login = (email = EMAIL, password = PASSWORD) =>
  grant({ grant_type: 'password', email, password });
const refresh = (token: string) => grant({ grant_type: 'refresh_token', refresh_token: token });
const whoAmI = (bearer: string) => api.call('GET', '', { bearer });

describe('the password grant', () => {
  it('returns tokens that work', async () => {
    const { status, body } = await login();
    expect(status).toBe(200);
    expect(body).toEqual({
      access_token: expect.any(String),
      refresh_token: expect.stringMatching(/^gantry_rt_/),
      expires_in: 3600,
      token_type: 'bearer',
    });
    expect((await whoAmI(body.access_token)).body.user).toMatchObject({ email: EMAIL });
  });

  it('replies alike to a wrong password and an unknown user', async () => {
    const wrong = await login(EMAIL, 'wrong password');
    const unknown = await login('nobody@example.test');
    expect([wrong.status, wrong.body.code]).toEqual([401, 'bad_credential']);
    expect({ ...unknown.body, error_id: '' }).toEqual({ ...wrong.body, error_id: '' });
    expect(unknown.status).toBe(wrong.status);
    expect([...unknown.headers.keys()]).toEqual([...wrong.headers.keys()]);
  });

  it('stores only the hash of a refresh token', async () => {
    const { body } = await login();
    const rows = await api.sql`select to_json(r)::text as row from refresh_tokens r`;
    for (const row of rows) expect(row['row']).not.toContain(body.refresh_token);
  });
});

describe('an access token', () => {
  it('is refused after it has expired, even if it was accepted before', async () => {
    const { body } = await login();
    expect((await whoAmI(body.access_token)).status).toBe(200);
    passTime((TOKEN_LIFETIME_S - 5) * 1000);
    expect((await whoAmI(body.access_token)).status).toBe(200);
    vi.setSystemTime(Date.now() + 10_000);
    const expired = await whoAmI(body.access_token);
    expect([expired.status, expired.body.code]).toEqual([401, 'bad_credential']);
  });

  const forge = async (header: { alg: string; kid?: string }) => {
    const { privateKey } = await generateKeyPair(header.alg);
    return await new SignJWT()
      .setProtectedHeader(header)
      .setSubject(tenant.owner.id)
      .setIssuer('gantry')
      .setIssuedAt()
      .setExpirationTime('1h')
      .sign(privateKey);
  };
  const decoded = (part: string | undefined) =>
    JSON.parse(Buffer.from(part ?? '', 'base64url').toString());
  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

  it('is refused if another key signed it, whichever key it names', async () => {
    const [head] = tenant.owner.token.split('.');
    const { kid } = decoded(head);
    expect((await whoAmI(await forge({ alg: 'EdDSA', kid }))).status).toBe(401);
    expect((await whoAmI(await forge({ alg: 'EdDSA', kid: newId() }))).status).toBe(401);
    expect((await whoAmI(await forge({ alg: 'EdDSA' }))).status).toBe(401);
    expect((await whoAmI(await forge({ alg: 'ES256', kid }))).status).toBe(401);
  });

  it('is refused without a signature', async () => {
    const [head, payload] = tenant.owner.token.split('.');
    const none = encoded({ ...decoded(head), alg: 'none' });
    for (const token of [`${none}.${payload}.`, `${none}.${payload}`, `${head}.${payload}.`]) {
      expect((await whoAmI(token)).status).toBe(401);
    }
  });

  it('is refused if its payload is changed', async () => {
    const [head, payload, signature] = tenant.readOnly.token.split('.');
    const other = encoded({ ...decoded(payload), sub: tenant.owner.id });
    expect((await whoAmI(`${head}.${other}.${signature}`)).status).toBe(401);
    expect((await whoAmI(tenant.readOnly.token)).body.user.id).toBe(tenant.readOnly.id);
  });

  it('is refused if its user was deleted', async () => {
    expect((await whoAmI(await api.deps.tokens.issue(newId()))).status).toBe(401);
  });
});

describe('a refresh token', () => {
  it('returns new tokens once, and its second use revokes the whole login', async () => {
    const first = (await login()).body;
    const second = await refresh(first.refresh_token);
    expect(second.status).toBe(200);
    expect(second.body.refresh_token).not.toBe(first.refresh_token);
    const third = await refresh(second.body.refresh_token);
    expect((await whoAmI(third.body.access_token)).status).toBe(200);

    const reused = await refresh(first.refresh_token);
    expect([reused.status, reused.body.code]).toEqual([401, 'bad_credential']);
    expect((await refresh(third.body.refresh_token)).status).toBe(401);
  });

  it('that is used twice does not revoke other logins of the user', async () => {
    const one = (await login()).body;
    const other = (await login()).body;
    await refresh(one.refresh_token);
    await refresh(one.refresh_token);
    expect((await refresh(other.refresh_token)).status).toBe(200);
  });

  it('that is used concurrently works for exactly one request', async () => {
    const { refresh_token } = (await login()).body;
    const replies = await Promise.all(Array.from({ length: 5 }, () => refresh(refresh_token)));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401, 401]);
  });

  it('is refused if it is expired, invented or of another kind', async () => {
    const { refresh_token, access_token } = (await login()).body;
    await api.sql`update refresh_tokens set expires_at = now() - interval '1 s' where used_at is null`;
    for (const token of [refresh_token, newKey('refresh_token'), access_token, tenant.accessKey]) {
      expect((await refresh(token)).status).toBe(401);
    }
  });
});

it('an access token is issued and expires by the clock of the database, whatever the process shows', async () => {
  const { sql, secrets } = api.deps;
  const startMs = Date.now();
  let databaseMs = startMs;
  const tokens = await createAccessTokens({ sql, secrets, keyDays: 30, nowMs: () => databaseMs });
  passTime(-2 * TOKEN_LIFETIME_S * 1000);
  const token = await tokens.issue(tenant.owner.id);
  expect(decodeJwt(token)).toMatchObject({
    iat: Math.floor(startMs / 1000),
    exp: Math.floor(startMs / 1000) + TOKEN_LIFETIME_S,
  });
  passTime(4 * TOKEN_LIFETIME_S * 1000);
  expect((await tokens.verify(token))?.userId).toBe(tenant.owner.id);
  databaseMs += TOKEN_LIFETIME_S * 1000;
  expect(await tokens.verify(token)).toBe(undefined);
});

describe('signing keys', () => {
  it('are shared by all api processes, even after one of them created a key', async () => {
    const { secrets, tokens } = api.deps;
    const sql = connect({ url: api.databaseUrl, name: 'second-api', maxConnections: 1 });
    try {
      const second = await createAccessTokens({ sql, secrets, keyDays: 30 });
      expect(await api.sql`select from signing_keys`).toHaveLength(1);
      const { id } = tenant.owner;
      expect((await second.verify(await tokens.issue(id)))?.userId).toBe(id);
      expect((await tokens.verify(await second.issue(id)))?.userId).toBe(id);

      const old = await second.issue(id);
      // An unknown key makes a process read the keys again at most once a second.
      passTime(1_001);
      await tokens.insertKey(api.sql);
      tokens.forget();
      expect((await second.verify(await tokens.issue(id)))?.userId).toBe(id);
      expect((await tokens.verify(old))?.userId).toBe(id);
      expect((await tokens.verify(await second.issue(id)))?.userId).toBe(id);
    } finally {
      await sql.end();
    }
  });

  it('are replaced when they are too old, not before', async () => {
    const keys = () => api.sql`select from signing_keys`.then(({ length }) => length);
    const before = await keys();
    await api.deps.tokens.rotate();
    expect(await keys()).toBe(before);
    await api.sql`update signing_keys set created_at = created_at - interval '31 days'`;
    await api.deps.tokens.rotate();
    expect(await keys()).toBe(before + 1);
  });

  it('are stored encrypted', async () => {
    const rows = await api.sql`select public_key, sealed_private_key from signing_keys`;
    for (const row of rows) {
      expect(row['public_key']).not.toHaveProperty('d');
      expect(row['sealed_private_key']).not.toContain('"d"');
    }
  });
});

describe('an access key', () => {
  const path = () => `/projects/${tenant.projectId}/quotas`;
  const use = (bearer: string) => api.call('GET', path(), { bearer });

  it('is refused at once after it was revoked', async () => {
    const key = await makeAccessKey(api, tenant.projectId, 'member');
    expect((await use(key)).status).toBe(200);
    const { items } = (
      await api.call('GET', `/projects/${tenant.projectId}/access-keys`, { bearer: key })
    ).body;
    const id = items.at(-1).id;
    const bearer = tenant.accessKey;
    await api.call('DELETE', `/projects/${tenant.projectId}/access-keys/${id}`, { bearer });
    const revoked = await use(key);
    expect([revoked.status, revoked.body.code]).toEqual([401, 'bad_credential']);
  });

  it('is refused as soon as it expires, even while it is cached', async () => {
    const key = await makeAccessKey(api, tenant.projectId, 'member');
    await api.sql`update access_keys set expires_at = ${new Date(Date.now() + 60_000)}
      where id = (select id from access_keys order by id desc limit 1)`;
    expect((await use(key)).status).toBe(200);
    passTime(60_001);
    expect((await use(key)).status).toBe(401);
  });

  it('is refused without a query if it is damaged, and after a query if it is unknown', async () => {
    const queries: unknown[] = [];
    const sql = connect({ url: api.databaseUrl, name: 'counted', maxConnections: 1 });
    const counted = new Proxy(sql, {
      apply(target, self, args) {
        queries.push(args);
        return Reflect.apply(target, self, args);
      },
    });
    const callers = createCallers({ sql: counted, tokens: api.deps.tokens });
    const reply = (bearer: string) =>
      callers.authenticate(`Bearer ${bearer}`).then(
        () => 'accepted',
        (error: { code: string }) => error.code,
      );
    try {
      const damaged = tenant.accessKey.slice(0, -1) + (tenant.accessKey.endsWith('A') ? 'B' : 'A');
      for (const bearer of [damaged, 'gantry_ak_', 'gantry_', newKey('refresh_token')]) {
        expect(await reply(bearer)).toBe('bad_credential');
      }
      expect(queries).toHaveLength(0);
      expect(await reply(newKey('access_key'))).toBe('bad_credential');
      expect(queries).toHaveLength(1);
      expect(await reply(tenant.accessKey)).toBe('accepted');
    } finally {
      await sql.end();
    }
  });

  it.each(['', 'Bearer', 'Bearer ', 'Basic abc', 'Bearer a b'])(
    'is required: the header %j is refused',
    async (authorization) => {
      const { status, headers } = await api.call('GET', '', { headers: { authorization } });
      expect(status).toBe(401);
      expect(headers.get('www-authenticate')).toContain('Bearer');
    },
  );
});
