import { connect } from '@gantry/db/connect';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { makeTenant, makeUser, type TestTenant, type TestUser } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createAccessTokens } from '../auth/access-tokens.ts';
import { ALL_ROUTES } from '../routes.ts';

let api: TestApi;
let acme: TestTenant;
let unpaid: TestTenant;
let operator: TestUser;

beforeAll(async () => {
  api = await startTestApi();
  acme = await makeTenant(api, 'acme');
  unpaid = await makeTenant(api, 'unpaid', { paid: false });
  operator = await makeUser(api, 'operator@gantry.test', { operator: true });
});
afterAll(() => api.stop());

const admin = (method: string, path: string) =>
  api.call(method, `/admin/${path}`, { bearer: operator.token });

describe("the operators' interface", () => {
  const routes = ALL_ROUTES.filter(({ path }) => path.startsWith('/admin'));

  it.each(routes.map((route) => [route.id, route] as const))(
    '%s is only for operators',
    async (_, route) => {
      const path = route.path.replaceAll(/\{\w+\}/g, acme.projectId);
      for (const bearer of [acme.owner.token, acme.accessKey]) {
        const { status, body } = await api.call(route.method.toUpperCase(), path, { bearer });
        expect([status, body.code]).toEqual([403, 'forbidden']);
      }
      expect((await api.call(route.method.toUpperCase(), path)).status).toBe(401);
    },
  );
});

describe('organizations and projects', () => {
  it('are all listed, with their payment status', async () => {
    const { body } = await admin('GET', 'organizations');
    expect(body.items).toEqual([
      {
        id: acme.organizationId,
        name: 'acme',
        paid: true,
        standing: 'good',
        payment_customer_id: `local_${acme.organizationId}`,
      },
      expect.objectContaining({ id: unpaid.organizationId, paid: false }),
    ]);
    expect(body.next_page_token).toBe('');
    const projects = (await admin('GET', 'projects')).body;
    expect(projects.items).toEqual([
      {
        id: acme.projectId,
        name: 'main',
        version: 'v0.1',
        organization_id: acme.organizationId,
      },
      expect.objectContaining({ id: unpaid.projectId }),
    ]);
  });

  it.each(['organizations', 'projects', 'users'])(
    '%s are listed in pages, each item once',
    async (noun) => {
      const all = (await admin('GET', noun)).body.items;
      const seen = [];
      let token = '';
      do {
        const { body } = await admin('GET', `${noun}?limit=1${token && `&page_token=${token}`}`);
        expect(body.items).toHaveLength(1);
        seen.push(...body.items);
        token = body.next_page_token;
      } while (token);
      expect(seen).toEqual(all);
    },
  );
});

describe('signing keys', () => {
  const kid = (token: string) =>
    JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid;

  it('can be replaced: old tokens stay valid, and new tokens have the new key', async () => {
    const before = await api.deps.tokens.issue(operator.id);
    const reply = await admin('POST', 'signing-keys');
    expect([reply.status, reply.body]).toEqual([200, {}]);
    const after = await api.deps.tokens.issue(operator.id);
    expect(kid(after)).not.toBe(kid(before));
    const [newest] = await api.sql`select id from signing_keys order by number desc limit 1`;
    expect(kid(after)).toBe(newest?.['id']);
    for (const bearer of [before, after]) {
      expect((await api.call('GET', '', { bearer })).status).toBe(200);
    }
  });

  it('can be withdrawn: their tokens end, here at once and elsewhere within a second', async () => {
    const sql = connect({ url: api.databaseUrl, name: 'second-api', maxConnections: 1 });
    const second = await createAccessTokens({ sql, secrets: api.deps.secrets, keyDays: 30 });
    const signed = await api.deps.tokens.issue(operator.id);
    await admin('POST', 'signing-keys');
    const other = { ...operator, token: await api.deps.tokens.issue(operator.id) };
    expect(await second.verify(signed)).toBeDefined();
    expect((await api.call('GET', '', { bearer: signed })).status).toBe(200);
    const { items } = (await admin('GET', 'signing-keys')).body;
    expect(items[0]).toEqual({ id: kid(other.token), created_at: expect.stringMatching(/Z$/) });

    const path = `/admin/signing-keys/${kid(signed)}`;
    const withdrawn = await api.call('DELETE', path, { bearer: other.token });
    expect(withdrawn.body).toMatchObject({ id: kid(signed) });
    expect((await api.call('GET', '', { bearer: signed })).status).toBe(401);
    expect((await api.call('GET', '', { bearer: other.token })).status).toBe(200);
    await vi.waitFor(async () => expect(await second.verify(signed)).toBeUndefined(), {
      timeout: 30_000,
    });
    expect(await second.verify(other.token)).toBeDefined();
    expect((await api.call('DELETE', path, { bearer: other.token })).status).toBe(404);
    await sql.end();
  });

  it('are replaced if the newest one is withdrawn', async () => {
    const signed = await api.deps.tokens.issue(operator.id);
    const path = `/admin/signing-keys/${kid(signed)}`;
    expect((await api.call('DELETE', path, { bearer: signed })).status).toBe(200);
    expect((await api.call('GET', '', { bearer: signed })).status).toBe(401);
    const after = await api.deps.tokens.issue(operator.id);
    expect(kid(after)).not.toBe(kid(signed));
    expect((await api.call('GET', '', { bearer: after })).status).toBe(200);
  });
});
