import { newId } from '@gantry/model/ids';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { makeTenant, type TestTenant } from '@gantry/testkit/make/tenants';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { BillingProvider } from './provider.ts';
import { createStripeProvider } from './stripe-provider.ts';
import { type FakeStripe, startFakeStripe } from './testing/stripe.ts';

const KEY = 'sk_test_standin00000000';
const COLLECTION = {
  ...{ webhookSecret: undefined, priceId: undefined, meterEventName: 'usage', paymentGraceMs: 0 },
};
let stripe: FakeStripe;
let api: TestApi;
let billing: BillingProvider;

beforeAll(async () => {
  stripe = await startFakeStripe(KEY);
  api = await startTestApi();
  billing = providerWith(KEY);
  api.deps.billing = billing;
});
afterEach(() => {
  stripe.breakWith(undefined);
  vi.useRealTimers();
});
afterAll(async () => {
  await api.stop();
  await stripe.stop();
});

const providerWith = (secretKey: string) =>
  createStripeProvider({
    sql: api.sql,
    secretKey,
    apiUrl: stripe.url,
    baseUrl: () => 'https://cloud.test',
    onPayment: () => api.deps.callers.forget(),
    ...COLLECTION,
  });
const tenantWithout = async (name: string, customerId = ''): Promise<TestTenant> => {
  const tenant = await makeTenant(api, name, { paid: false });
  await api.sql`update organizations set payment_customer_id = ${customerId} where id = ${tenant.organizationId}`;
  return tenant;
};
const customerOf = async ({ organizationId }: TestTenant): Promise<string> => {
  const [row] =
    await api.sql`select payment_customer_id from organizations where id = ${organizationId}`;
  return row?.['payment_customer_id'];
};
const billingOf = (tenant: TestTenant) =>
  api.call('GET', `/organizations/${tenant.organizationId}/billing`, {
    bearer: tenant.owner.token,
  });
const specsOf = (tenant: TestTenant) =>
  api.call('GET', `/projects/${tenant.projectId}/specs`, { bearer: tenant.accessKey });
const asked = (part: string) => stripe.requests.filter((line) => line.includes(part)).length;

describe('the link', () => {
  it("is a session of Stripe's portal for a customer that carries the organization's id", async () => {
    const tenant = await tenantWithout('first');
    const { status, body } = await billingOf(tenant);
    const customer = await customerOf(tenant);
    expect([status, body]).toEqual([
      200,
      { url: `https://billing.stripe.test/session/${customer}?back=https://cloud.test` },
    ]);
    expect(stripe.customers.get(customer)).toEqual({
      name: 'first',
      'metadata[organization_id]': tenant.organizationId,
    });
  });

  it('creates one customer for many concurrent requests', async () => {
    const tenant = await tenantWithout('many');
    const before = stripe.customers.size;
    const askedBefore = asked('POST /v1/customers');
    const release = stripe.hold();
    const waiting = Promise.all([1, 2, 3, 4].map(() => billingOf(tenant)));
    await vi.waitFor(() => expect(asked('POST /v1/customers')).toBe(askedBefore + 4), 30_000);
    release();
    const replies = await waiting;
    expect(new Set(replies.map(({ body }) => body.url)).size).toBe(1);
    expect(stripe.customers.size).toBe(before + 1);
    expect((await billingOf(tenant)).body.url).toContain(await customerOf(tenant));
    expect(stripe.customers.size).toBe(before + 1);
  });

  it('replaces a local id, and works after an interrupted call and a change of the name', async () => {
    const tenant = await tenantWithout('moved', 'local_moved');
    await billingOf(tenant);
    expect(await customerOf(tenant)).toMatch(/^cus_/);
    await api.sql`update organizations set payment_customer_id = '', name = 'renamed' where id = ${tenant.organizationId}`;
    expect((await billingOf(tenant)).status).toBe(200);
  });

  it('creates a new customer if the old one is missing at Stripe', async () => {
    const tenant = await tenantWithout('lost', 'cus_gone');
    expect((await specsOf(tenant)).status).toBe(402);
    expect((await billingOf(tenant)).status).toBe(200);
    expect(await customerOf(tenant)).not.toBe('cus_gone');
  });

  it('is not_found for a deleted organization', async () => {
    await expect(billing.createSession(newId())).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('payment', () => {
  it('is found by the first request after five seconds, and stored', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const tenant = await tenantWithout('payer');
    // Without a customer, Stripe is not called.
    const before = asked('/payment_methods');
    expect((await specsOf(tenant)).status).toBe(402);
    expect(asked('/payment_methods')).toBe(before);
    await billingOf(tenant);
    const customer = await customerOf(tenant);
    vi.setSystemTime(Date.now() + 6_000);
    const replies = await Promise.all([specsOf(tenant), specsOf(tenant), specsOf(tenant)]);
    expect(replies.map(({ status }) => status)).toEqual([402, 402, 402]);
    expect(asked(`${customer}/payment_methods`)).toBe(1);
    stripe.enterPaymentMethod(customer);
    expect((await specsOf(tenant)).status).toBe(402);
    expect(asked(`${customer}/payment_methods`)).toBe(1);
    vi.setSystemTime(Date.now() + 5_001);
    expect((await specsOf(tenant)).status).toBe(200);
    const [row] =
      await api.sql`select provider, details from payment_methods where organization_id = ${tenant.organizationId}`;
    expect(row).toEqual({
      provider: 'stripe',
      details: { customer, payment_method: 'pm_1', type: 'card' },
    });
    // The payment method is stored, so Stripe is not called any more and may be down.
    stripe.breakWith(500);
    vi.setSystemTime(Date.now() + 60_000);
    expect((await specsOf(tenant)).status).toBe(200);
    expect(asked(`${customer}/payment_methods`)).toBe(2);
  });
});

describe('a Stripe that fails', () => {
  it('makes the reply unavailable, and is not called more often than a working one', async () => {
    const tenant = await tenantWithout('unlucky');
    await billingOf(tenant);
    const customer = await customerOf(tenant);
    stripe.breakWith(503);
    const reply = await billingOf(tenant);
    expect([reply.status, reply.body.code]).toEqual([503, 'unavailable']);
    expect((await specsOf(tenant)).body.code).toBe('unavailable');
    const tries = asked(`${customer}/payment_methods`);
    expect(tries).toBe(3);
    expect((await specsOf(tenant)).body.code).toBe('unavailable');
    expect(asked(`${customer}/payment_methods`)).toBe(tries);
  });

  it('makes the reply unavailable if it refuses the key or is not reachable', async () => {
    const tenant = await tenantWithout('odd');
    const wrongKey = providerWith('sk_test_anotherkey000000');
    await expect(wrongKey.createSession(tenant.organizationId)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.not.stringContaining('sk_test'),
    });
    const unreachable = createStripeProvider({
      sql: api.sql,
      secretKey: KEY,
      apiUrl: 'http://127.0.0.1:9',
      baseUrl: () => '',
      onPayment: () => {},
      ...COLLECTION,
    });
    await expect(unreachable.createSession(tenant.organizationId)).rejects.toMatchObject({
      code: 'unavailable',
    });
  });
});
