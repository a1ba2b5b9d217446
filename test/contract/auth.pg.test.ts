import { createAccessTokens } from '@gantry/api/auth/access-tokens';
import { isKey } from '@gantry/api/auth/keys';
import { hashPassword } from '@gantry/api/auth/passwords';
import { connect } from '@gantry/db/connect';
import type { Reply } from '@gantry/testkit/api/test-api';
import { newName } from '@gantry/testkit/make/request-bodies';
import { makeTenant, makeUser } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  clientOf,
  expectFieldRefused,
  expectRefusal,
  expectRequired,
  type Fields,
  membersOf,
  startWorld,
  type World,
} from './support.ts';

let world: World;
const password = 'correct horse battery staple';
const login = { grant_type: 'password', email: 'ada@acme.test', password };

beforeAll(async () => {
  world = await startWorld();
  const { id } = await makeUser(world.api, login.email);
  await world.api
    .sql`update users set password_hash = ${await hashPassword(password)} where id = ${id}`;
  await world.api.sql`insert into members (id, user_id, organization_id, role)
    values (gen_random_uuid(), ${id}, ${world.tenant.organizationId}, 'owner')`;
});
afterAll(() => world.api.stop());

const grant = (body: Fields): Promise<Reply> => world.api.call('POST', '/auth/token', { body });
const refresh = (refresh_token: unknown) => grant({ grant_type: 'refresh_token', refresh_token });
const logIn = async () => (await grant(login)).body;

describe('docs/contract/authentication.md#get-tokens-for-a-user: password grant', () => {
  const field = (name: string, wrong: unknown) =>
    expectRequired({ send: grant, body: login, field: name, wrong });

  it('grant_type is required, a string', async () => {
    await field('grant_type', 7);
    expectFieldRefused(await grant({ ...login, grant_type: 'passwords' }), 'grant_type');
  });
  it('email is required, a string', async () => {
    await field('email', 7);
    expectFieldRefused(await grant({ ...login, email: 'ada' }), 'email');
  });
  it('password is required, a string', () => field('password', 7));
});

describe('docs/contract/authentication.md#get-tokens-for-a-user: refresh grant', () => {
  it('grant_type is required, a string', async () => {
    const { refresh_token } = await logIn();
    expectFieldRefused(await grant({ refresh_token }), 'grant_type');
    expectFieldRefused(await grant({ grant_type: 'refresh', refresh_token }), 'grant_type');
    expect((await refresh(refresh_token)).status).toBe(200);
  });
  it('refresh_token is required, a string', async () => {
    expectFieldRefused(await grant({ grant_type: 'refresh_token' }), 'refresh_token');
    expectFieldRefused(await refresh(7), 'refresh_token');
    expect((await refresh((await logIn()).refresh_token)).status).toBe(200);
  });
});

describe('docs/contract/authentication.md#get-tokens-for-a-user: reply', () => {
  it('the reply has no other fields', async () => {
    const members = ['access_token', 'expires_in', 'refresh_token', 'token_type'];
    const first = await logIn();
    expect(membersOf(first)).toEqual(members);
    expect(membersOf((await refresh(first.refresh_token)).body)).toEqual(members);
  });
  it('access_token is a string that works as a bearer', async () => {
    const { access_token } = await logIn();
    expect((await clientOf(world.api, access_token).get('')).body.user.email).toBe(login.email);
  });
  it('refresh_token is a string', async () =>
    expect((await logIn()).refresh_token).toBeTypeOf('string'));
  it('expires_in is 3600', async () => expect((await logIn()).expires_in).toBe(3600));
  it('token_type is bearer', async () => expect((await logIn()).token_type).toBe('bearer'));
});

describe('docs/contract/authentication.md#send-a-bearer', () => {
  it('every endpoint except the token endpoint needs the Authorization header', async () => {
    const bare = await world.api.call('GET', '/projects');
    expectRefusal(bare, 401, 'bad_credential');
    for (const authorization of [world.tenant.accessKey, `Basic ${world.tenant.accessKey}`]) {
      const reply = await world.api.call('GET', '/projects', { headers: { authorization } });
      expectRefusal(reply, 401, 'bad_credential');
    }
    expect((await world.get('/projects')).status).toBe(200);
    expect((await grant(login)).status).toBe(200);
  });
  it('a bearer is an access key or an access token, and nothing else', async () => {
    const { access_token, refresh_token } = await logIn();
    for (const bearer of [world.tenant.accessKey, access_token]) {
      expect((await clientOf(world.api, bearer).get(`${world.P}/specs`)).status).toBe(200);
    }
    const refused = await clientOf(world.api, refresh_token).get(`${world.P}/specs`);
    expectRefusal(refused, 401, 'bad_credential');
  });
  it('a password grant replies with an access token and a refresh token', async () => {
    expect(await grant(login)).toMatchObject({
      status: 200,
      body: {
        ...{ access_token: expect.any(String), refresh_token: expect.any(String) },
        ...{ expires_in: expect.any(Number), token_type: 'bearer' },
      },
    });
    expectRefusal(await grant({ ...login, password: 'wrong' }), 401, 'bad_credential');
  });
  it('a refresh grant replies with a new access token', async () => {
    const { refresh_token } = await logIn();
    const { access_token } = (await refresh(refresh_token)).body;
    expect((await clientOf(world.api, access_token).get('')).body.user.email).toBe(login.email);
  });
});

describe('docs/contract/authentication.md#access-keys: tokens and keys', () => {
  it('access tokens are signed and last an hour; an old refresh token revokes its family', async () => {
    const { access_token, refresh_token } = await logIn();
    const { get } = clientOf(world.api, access_token);
    const [head = '', payload = '', signature = ''] = access_token.split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
    expect(claims.exp - claims.iat).toBe(3600);
    const forged = Buffer.from(JSON.stringify({ ...claims, exp: claims.exp + 1 }));
    const bearer = `${head}.${forged.toString('base64url')}.${signature}`;
    expectRefusal(await clientOf(world.api, bearer).get(''), 401, 'bad_credential');

    const { sql, secrets } = {
      sql: connect({ url: world.api.databaseUrl, name: 'tokens' }),
      secrets: world.api.deps.secrets,
    };
    const tokens = await createAccessTokens({ sql, secrets, keyDays: 30 });
    await sql.end();
    expect((await tokens.verify(access_token))?.userId).toBe(claims.sub);

    expect((await get('')).status).toBe(200);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_601_000 });
    try {
      expectRefusal(await get(''), 401, 'bad_credential');
    } finally {
      vi.useRealTimers();
    }

    const second = (await refresh(refresh_token)).body;
    expect(second.refresh_token).not.toBe(refresh_token);
    expectRefusal(await refresh(refresh_token), 401, 'bad_credential');
    expectRefusal(await refresh(second.refresh_token), 401, 'bad_credential');
  });

  it('access keys belong to one project, have a prefix and a checksum, and are stored as a hash', async () => {
    const other = await makeTenant(world.api, 'other');
    const { body } = await world.post(`${world.P}/access-keys`, { name: newName() });
    const { get } = clientOf(world.api, body.access_key);
    expect((await get(`${world.P}/specs`)).status).toBe(200);
    expectRefusal(await get(`/projects/${other.projectId}/specs`), 404, 'not_found');

    const prefix = 'gantry_ak_';
    expect([body.access_key, world.tenant.accessKey].map((key) => key.slice(0, 10))).toEqual([
      prefix,
      prefix,
    ]);
    const last = body.access_key.at(-1) === 'A' ? 'B' : 'A';
    expect(isKey('access_key', body.access_key)).toBe(true);
    expect(isKey('access_key', body.access_key.slice(0, -1) + last)).toBe(false);

    const secret = body.access_key.slice(prefix.length, -6);
    const tables = await world.api.sql<{ name: string }[]>`
      select table_name as name from information_schema.tables where table_schema = 'public'`;
    for (const { name } of tables) {
      const rows = await world.api.sql`select t::text from ${world.api.sql(name)} t`;
      expect(JSON.stringify(rows), name).not.toContain(secret);
    }
  });
});
