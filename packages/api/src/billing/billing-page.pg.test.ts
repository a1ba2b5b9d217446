import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { makeTenant, type TestTenant } from '@gantry/testkit/make/tenants';
import { serve } from '@hono/node-server';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { buildApp } from '../app.ts';
import { hashPassword } from '../auth/passwords.ts';

let api: TestApi;
let app: ReturnType<typeof buildApp>;

beforeAll(async () => {
  api = await startTestApi();
  app = buildApp(api.deps);
});
afterEach(() => vi.useRealTimers());
afterAll(() => api.stop());

const unpaid = (name: string) => makeTenant(api, name, { paid: false });
const billingPath = (tenant: TestTenant) => `/organizations/${tenant.organizationId}/billing`;
const get = (tenant: TestTenant, path: string) =>
  api.call('GET', path, { bearer: tenant.accessKey });
const specs = (tenant: TestTenant) => get(tenant, `/projects/${tenant.projectId}/specs`);

/** Returns the path of a new billing link. */
async function linkOf(tenant: TestTenant): Promise<string> {
  const { status, body } = await api.call('GET', billingPath(tenant), {
    bearer: tenant.owner.token,
  });
  expect([status, body.url]).toEqual([
    200,
    expect.stringMatching(/^http:\/\/api\.test\/billing\/gantry_bl_/),
  ]);
  return body.url.slice('http://api.test'.length);
}

const submit = (
  link: string,
  body: string | URLSearchParams | FormData,
  headers: Record<string, string> = {},
) => app.request(link, { method: 'POST', body, headers });
const form = (values: Record<string, string>) => new URLSearchParams(values);

describe('an organization without a payment method', () => {
  it('gets 402 with a pointer to its billing endpoint on project and location routes', async () => {
    const tenant = await unpaid('refused');
    for (const reply of [
      await specs(tenant),
      await get(tenant, `/projects/${tenant.projectId}/vms`),
      await get(tenant, `/organizations/${tenant.organizationId}/usage`),
      await get(tenant, '/locations'),
      await api.call('POST', `/projects/${tenant.projectId}/vms`, {
        bearer: tenant.member.token,
        body: {},
      }),
    ]) {
      expect([reply.status, reply.body.code]).toEqual([402, 'payment_required']);
      expect(reply.body.message).toMatch(/\/v0\.1\/organizations\/[^/]+\/billing/);
    }
    expect((await specs(tenant)).body.message).toContain(`/v0.1${billingPath(tenant)}`);
  });

  it('can still use the token, root, organization, project and billing routes', async () => {
    const tenant = await unpaid('still-open');
    const password = 'a long enough password';
    await api.sql`update users set password_hash = ${await hashPassword(password)} where id = ${tenant.owner.id}`;
    const token = await api.call('POST', '/auth/token', {
      body: { grant_type: 'password', email: tenant.owner.email, password },
    });
    expect(token.status).toBe(200);
    for (const bearer of [tenant.accessKey, token.body.access_token]) {
      const prices = `/projects/${tenant.projectId}/prices`;
      const ofOwner = bearer === tenant.accessKey ? [] : [billingPath(tenant)];
      for (const path of ['', '/organizations', '/projects', prices, ...ofOwner]) {
        const { status } = await api.call('GET', path, { bearer });
        expect([path, status]).toEqual([path, 200]);
      }
    }
  });

  it('gives a billing link to its owners only, because the link can replace the invoice address', async () => {
    const tenant = await unpaid('roles');
    const stranger = await unpaid('stranger');
    const status = async (bearer: string) =>
      (await api.call('GET', billingPath(tenant), { bearer })).status;
    expect(await status(tenant.owner.token)).toBe(200);
    for (const bearer of [
      tenant.member.token,
      tenant.readOnly.token,
      tenant.accessKey,
      tenant.readOnlyKey,
    ])
      expect(await status(bearer)).toBe(403);
    expect(await status(stranger.accessKey)).toBe(404);
  });
});

describe('the page', () => {
  it('explains its purpose, loads and runs nothing, and is not stored', async () => {
    const tenant = await unpaid('page');
    const response = await app.request(await linkOf(tenant));
    const text = await response.text();
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^text\/html/);
    expect(text).toContain('Payment is by invoice');
    expect(text).toContain('does not ask for card or bank details');
    expect(text).toContain('Payment method of page');
    expect(text).toContain('name="viewport"');
    expect(text).not.toMatch(/<script|src=|href=|https?:/i);
    const style = /<style>([\s\S]*)<\/style>/.exec(text)?.[1] ?? '';
    const hash = createHash('sha256').update(style).digest('base64');
    const policy = response.headers.get('content-security-policy');
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain(`style-src 'sha256-${hash}'`);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('referrer-policy')).toBe('no-referrer');
  });

  it.each(['urlencoded', 'multipart'])(
    'accepts a %s form, and the API works at once',
    async (kind) => {
      const tenant = await unpaid(`sent-${kind}`);
      expect((await specs(tenant)).status).toBe(402);
      const values = { holder: ' Änne & Söhne ', email: ' Billing@Example.com ' };
      const body = kind === 'urlencoded' ? form(values) : new FormData();
      if (body instanceof FormData) for (const [k, v] of Object.entries(values)) body.set(k, v);
      const response = await submit(await linkOf(tenant), body);
      expect([response.status, await response.text()]).toEqual([
        200,
        expect.stringContaining('Done'),
      ]);
      expect((await specs(tenant)).status).toBe(200);
      const asUser = await api.call('GET', `/projects/${tenant.projectId}/vms`, {
        bearer: tenant.member.token,
      });
      expect(asUser.status).toBe(200);
      const [row] =
        await api.sql`select provider, details from payment_methods where organization_id = ${tenant.organizationId}`;
      expect(row).toEqual({
        provider: 'local',
        details: { holder: 'Änne & Söhne', email: 'billing@example.com' },
      });
      const [line] =
        await api.sql`select action, actor_type, actor from audit_logs where organization_id = ${tenant.organizationId}`;
      expect(line).toEqual({
        action: 'billing.enter',
        actor_type: 'anonymous',
        actor: 'billing@example.com',
      });
    },
  );

  it('names the wrong field, shows the escaped input again, and stores nothing', async () => {
    const tenant = await unpaid('wrong');
    await api.sql`update organizations set name = '<b>"wrong"' where id = ${tenant.organizationId}`;
    const link = await linkOf(tenant);
    const response = await submit(link, form({ holder: '"><script>1</script>', email: "not'one" }));
    const text = await response.text();
    expect(response.status).toBe(400);
    expect(text).toContain('Billing e-mail: must be an e-mail address');
    expect(text).not.toContain('Account holder: ');
    expect(text).toContain('value="&quot;&gt;&lt;script&gt;1&lt;/script&gt;"');
    expect(text).toContain('value="not&#39;one"');
    expect(text).not.toMatch(/<script|<b>/);
    const empty = await submit(link, form({}));
    expect([empty.status, await empty.text()]).toEqual([
      400,
      expect.stringContaining('Account holder: must not be empty'),
    ]);
    expect((await specs(tenant)).status).toBe(402);
  });

  it('accepts only forms of limited size', async () => {
    const tenant = await unpaid('sizes');
    const link = await linkOf(tenant);
    const status = async (body: string | URLSearchParams | FormData, headers = {}) =>
      (await submit(link, body, headers)).status;
    const encoded = { 'content-type': 'application/x-www-form-urlencoded' };
    expect(await status('{}', { 'content-type': 'application/json' })).toBe(415);
    expect(await status('x', { 'content-type': 'multipart/form-data; boundary=y' })).toBe(400);
    const large = `holder=${'x'.repeat(257 * 1024)}`;
    expect(await status(large, { ...encoded, 'content-length': String(large.length) })).toBe(413);
    expect(await status(large, encoded)).toBe(413);
    expect(await status(large, { ...encoded, 'transfer-encoding': 'chunked' })).toBe(413);
    expect((await specs(tenant)).status).toBe(402);
  });

  it('works over a socket with bodies in chunks and without a length', async () => {
    const tenant = await unpaid('socket');
    const link = await linkOf(tenant);
    const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 });
    try {
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const send = async (pieces: string[]) => {
        const request = httpRequest({
          host: '127.0.0.1',
          port,
          path: link,
          method: 'POST',
          agent: false,
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
        });
        for (const piece of pieces) request.write(piece);
        request.end();
        const [response] = (await once(request, 'response')) as [IncomingMessage];
        response.resume();
        return response.statusCode;
      };
      expect(await send(Array.from({ length: 6 }, () => 'x'.repeat(50 * 1024)))).toBe(413);
      expect((await specs(tenant)).status).toBe(402);
      expect(await send(['holder=A+B', '&email=a', '%40b.example'])).toBe(200);
      expect((await specs(tenant)).status).toBe(200);
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });

  it('replies with a 403 page for an expired, forged or orphaned link', async () => {
    const tenant = await unpaid('late');
    const link = await linkOf(tenant);
    const refused = async (path: string) => {
      for (const response of [
        await app.request(path),
        await submit(path, form({ holder: 'x', email: 'a@b.example' })),
      ]) {
        expect(response.status).toBe(403);
        expect(response.headers.get('content-type')).toMatch(/^text\/html/);
        expect(await response.text()).toContain('Get a new one');
      }
    };
    await refused(`${link}x`);
    await refused('/billing/gantry_bl_nonsense');
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 15 * 60_000 + 1 });
    await refused(link);
    vi.useRealTimers();
    expect((await specs(tenant)).status).toBe(402);
    expect((await app.request(link)).status).toBe(200);
    await api.sql`delete from projects where organization_id = ${tenant.organizationId}`;
    await api.sql`delete from organizations where id = ${tenant.organizationId}`;
    await refused(link);
  });
});
