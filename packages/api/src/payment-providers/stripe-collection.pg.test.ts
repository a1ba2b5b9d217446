import { adjustClosedDays } from '@gantry/db/queries/usage/adjustments';
import { closeInterval, openInterval } from '@gantry/db/queries/usage/meter';
import { closeDay } from '@gantry/db/queries/usage/usage';
import { newId } from '@gantry/model/ids';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { finishVm } from '@gantry/testkit/make/finished';
import { vmBody } from '@gantry/testkit/make/request-bodies';
import { makeTenant, type TestTenant } from '@gantry/testkit/make/tenants';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { buildApp } from '../app.ts';
import { enforceStanding } from '../billing/enforce-standing.ts';
import { createStripeProvider } from './stripe-provider.ts';
import { type FakeStripe, signEvent, startFakeStripe } from './testing/stripe.ts';

/** Against the fake in testing/stripe.ts, with the signatures of Stripe's SDK and format. */
const KEY = 'sk_test_standin00000000';
const SECRET = 'whsec_test_0000000000000000000000000000';
const GRACE_MS = 7 * 86_400_000;
let stripe: FakeStripe;
let api: TestApi;
let app: ReturnType<typeof buildApp>;

beforeAll(async () => {
  stripe = await startFakeStripe(KEY);
  api = await startTestApi();
  api.deps.billing = createStripeProvider({
    ...{ sql: api.sql, secretKey: KEY, apiUrl: stripe.url, baseUrl: () => 'https://cloud.test' },
    ...{ webhookSecret: SECRET, priceId: 'price_1', meterEventName: 'gantry_usage_micro_usd' },
    ...{ paymentGraceMs: GRACE_MS, onPayment: () => api.deps.callers.forget() },
  });
  app = buildApp(api.deps);
});
afterEach(() => {
  stripe.breakWith(undefined);
  stripe.loseReplies(0);
  vi.useRealTimers();
});
afterAll(async () => {
  await api.stop();
  await stripe.stop();
});

type Customer = TestTenant & { customerId: string };

/** A tenant with a card at Stripe. */
async function makeCustomer(name: string): Promise<Customer> {
  const tenant = await makeTenant(api, name, { paid: false });
  const bearer = tenant.owner.token;
  await api.call('GET', `/organizations/${tenant.organizationId}/billing`, { bearer });
  const [row] =
    await api.sql`select payment_customer_id as id from organizations where id = ${tenant.organizationId}`;
  const customerId = row?.['id'];
  stripe.enterPaymentMethod(customerId);
  await api.deps.billing.collection?.refresh(tenant.organizationId);
  return { ...tenant, customerId };
}

async function use(tenant: TestTenant, from: string, to: string): Promise<void> {
  const resourceId = newId();
  const { organizationId, projectId } = tenant;
  await openInterval(api.sql, {
    ...{ organizationId, projectId, resourceId, region: 'eu-north', startedAt: new Date(from) },
    metered: { metric: 'vm_seconds', vmType: 'a40.1x' },
  });
  await closeInterval(api.sql, { resourceId, endedAt: new Date(to) });
}

const sendUsage = () => api.deps.billing.collection?.sendUsage(api.deps.log);
const eventsOf = ({ customerId }: Customer) =>
  [...stripe.meterEvents.values()].filter(
    (event) => event['payload[stripe_customer_id]'] === customerId,
  );
const itemsOf = ({ customerId }: Customer) =>
  stripe.invoiceItems.filter(({ customer }) => customer === customerId);
const outbox = (tenant: TestTenant) =>
  api.sql`select failure, sent_at is not null as sent, uncertain_since is not null as uncertain
    from payment_outbox where organization_id = ${tenant.organizationId} order by created_at`;
const releaseClaims = () => api.sql`update payment_outbox set claimed_until = null`;

describe('usage', () => {
  beforeAll(async () => {
    await api.sql`insert into prices values ('a40.1x', 0.36)
      on conflict (resource_type) do update set usd_per_hour = excluded.usd_per_hour`;
  });

  it('is sent once as the cost of a day, and the customer is subscribed once', async () => {
    const tenant = await makeCustomer('metered');
    await use(tenant, '2026-02-01T10:00:00Z', '2026-02-01T11:00:00.001Z');
    await use(tenant, '2026-02-02T10:00:00Z', '2026-02-02T10:00:01Z');
    for (const day of ['2026-02-01', '2026-02-02']) await closeDay(api.sql, day);
    await Promise.all([sendUsage(), sendUsage()]);
    await sendUsage();
    expect(eventsOf(tenant)).toMatchObject([
      {
        ...{ event_name: 'gantry_usage_micro_usd', 'payload[value]': '360000' },
        ...{ 'payload[date]': '2026-02-01', 'payload[resource_type]': 'a40.1x' },
      },
      { 'payload[value]': '100', 'payload[date]': '2026-02-02' },
    ]);
    const subscribed = stripe.subscriptions.filter(
      ({ customer }) => customer === tenant.customerId,
    );
    expect(subscribed).toMatchObject([{ 'items[0][price]': 'price_1' }]);
    expect(await outbox(tenant)).toEqual(
      [1, 2].map(() => ({ failure: '', sent: true, uncertain: false })),
    );
  });

  it('of a closed day that becomes known late is a line on the next invoice, also a refund', async () => {
    const tenant = await makeCustomer('adjusted');
    await use(tenant, '2026-02-03T10:00:00Z', '2026-02-03T11:00:00Z');
    await closeDay(api.sql, '2026-02-03');
    await use(tenant, '2026-02-03T12:00:00Z', '2026-02-03T12:10:00Z');
    await adjustClosedDays(api.sql);
    await api.sql`update meter_intervals set ended_at = started_at
      where organization_id = ${tenant.organizationId} and started_at = '2026-02-03T10:00:00Z'`;
    await adjustClosedDays(api.sql);
    await sendUsage();
    await sendUsage();
    expect(eventsOf(tenant)).toMatchObject([{ 'payload[value]': '360000' }]);
    expect(itemsOf(tenant)).toMatchObject([
      {
        ...{ currency: 'usd', description: expect.stringContaining('2026-02-03') },
        'metadata[date]': '2026-02-03',
      },
      { description: expect.stringContaining('not used') },
    ]);
    expect(itemsOf(tenant).map((item) => Number(item['unit_amount_decimal']))).toEqual([6, -36]);
  });

  it('is not lost while Stripe is down', async () => {
    const tenant = await makeCustomer('patient');
    await use(tenant, '2026-02-04T10:00:00Z', '2026-02-04T11:00:00Z');
    await closeDay(api.sql, '2026-02-04');
    stripe.breakWith(503);
    await sendUsage();
    await sendUsage();
    expect(eventsOf(tenant)).toEqual([]);
    expect(await outbox(tenant)).toMatchObject([
      { sent: false, failure: expect.stringMatching(/./) },
    ]);
    stripe.breakWith(undefined);
    stripe.forgetKeys();
    await sendUsage();
    expect(eventsOf(tenant)).toHaveLength(1);
    expect(await outbox(tenant)).toEqual([{ sent: true, failure: '', uncertain: false }]);
  });

  it('is not sent twice if replies are lost, or a process dies before it notes the reply', async () => {
    const tenant = await makeCustomer('doubtful');
    await use(tenant, '2026-02-05T10:00:00Z', '2026-02-05T11:00:00Z');
    await closeDay(api.sql, '2026-02-05');
    await use(tenant, '2026-02-05T12:00:00Z', '2026-02-05T13:00:00Z');
    await adjustClosedDays(api.sql);
    stripe.loseReplies(3);
    await sendUsage();
    await sendUsage();
    await sendUsage();
    await api.sql`update payment_outbox set sent_at = null where organization_id = ${tenant.organizationId}`;
    await sendUsage();
    expect(eventsOf(tenant)).toHaveLength(1);
    expect(itemsOf(tenant)).toHaveLength(1);
    expect(await outbox(tenant)).toMatchObject([{ sent: true }, { sent: true }]);
  });

  it('is not repeated if Stripe may have accepted it more than 23 hours ago', async () => {
    const tenant = await makeCustomer('uncertain');
    await use(tenant, '2026-02-06T10:00:00Z', '2026-02-06T11:00:00Z');
    await closeDay(api.sql, '2026-02-06');
    await api.sql`update payment_outbox set uncertain_since = now() - interval '23 hours'
      where organization_id = ${tenant.organizationId}`;
    await sendUsage();
    expect(eventsOf(tenant)).toEqual([]);
    await api.sql`update payment_outbox set uncertain_since = null where organization_id = ${tenant.organizationId}`;
    await sendUsage();
    expect(eventsOf(tenant)).toHaveLength(1);
  });

  it('is sent by another process if the one that claimed it has died', async () => {
    const tenant = await makeCustomer('orphaned');
    await use(tenant, '2026-02-07T10:00:00Z', '2026-02-07T11:00:00Z');
    await closeDay(api.sql, '2026-02-07');
    await api.sql`update payment_outbox set claimed_until = now() + interval '1 minute' where sent_at is null`;
    await sendUsage();
    expect(eventsOf(tenant)).toEqual([]);
    await releaseClaims();
    await sendUsage();
    expect(eventsOf(tenant)).toHaveLength(1);
  });
});

let lastEvent = 0;
function makeEvent(type: string, object: object, previous?: object): string {
  lastEvent += 1;
  return JSON.stringify({
    ...{ id: `evt_${lastEvent}`, object: 'event', type, api_version: '2020-01-01' },
    data: { object, ...(previous && { previous_attributes: previous }) },
  });
}
const post = (body: string, signature?: string) =>
  app.request('/webhooks/stripe', {
    ...{ method: 'POST', body },
    headers: {
      'content-type': 'application/json',
      ...(signature !== undefined && { 'stripe-signature': signature }),
    },
  });
const deliver = async (body: string, at = new Date()) =>
  (await post(body, signEvent(body, { secret: SECRET, at }))).status;
const failed = ({ customerId }: Customer) =>
  makeEvent('invoice.payment_failed', { id: 'in_1', object: 'invoice', customer: customerId });
const paid = ({ customerId }: Customer) =>
  makeEvent('invoice.paid', { id: 'in_1', object: 'invoice', customer: customerId });
const standing = async (tenant: Customer) =>
  (
    await api.call('GET', `/organizations/${tenant.organizationId}/standing`, {
      bearer: tenant.readOnlyKey,
    })
  ).body;
const call = (tenant: TestTenant, method: string, path: string, body?: object) =>
  api.call(method, `/projects/${tenant.projectId}${path}`, {
    bearer: tenant.accessKey,
    ...(body && { body }),
  });
async function runVm(tenant: TestTenant): Promise<string> {
  const { body } = await call(tenant, 'POST', '/vms', vmBody());
  const vmId = body.operation.metadata.id;
  await finishVm(api.sql, vmId, 'running');
  return vmId;
}
const vmState = async (tenant: TestTenant, vmId: string) =>
  (await call(tenant, 'GET', `/vms/${vmId}`)).body.state;
const eventTypes = async (vmId: string) =>
  (await api.sql`select type from events where resource_id = ${vmId} order by created_at, id`).map(
    ({ type }) => type,
  );
/** The column rounds to milliseconds, so that the present could be stored as half a millisecond in the future. */
const graceIsOver = ({ organizationId }: Customer) =>
  api.sql`update payment_problems set suspends_at = now() - interval '1 second' where organization_id = ${organizationId}`;

describe('a webhook', () => {
  it('is refused without a signature of its body that is at most five minutes old', async () => {
    const tenant = await makeCustomer('forged');
    stripe.setUnpaidInvoices(tenant.customerId, 1);
    const body = failed(tenant);
    const now = new Date();
    const signed = signEvent(body, { secret: SECRET, at: now });
    const old = new Date(now.getTime() - 301_000);
    for (const [sent, signature] of [
      [body, undefined],
      [body, ''],
      [body, 't=1,v1=00'],
      [body, signEvent(body, { secret: 'whsec_other', at: now })],
      [body, signEvent(body, { secret: SECRET, at: old })],
      [`${body} `, signed],
      ['not json', signEvent('other', { secret: SECRET, at: now })],
    ] as const) {
      const reply = await post(sent, signature);
      expect([signature, reply.status]).toEqual([signature, 400]);
      expect(await reply.json()).toMatchObject({
        ...{ code: 'bad_request', details: [{ field: 'Stripe-Signature' }] },
      });
    }
    expect(await standing(tenant)).toMatchObject({ standing: 'good' });
    expect(await deliver('not json')).toBe(400);
    expect((await post(body, signed)).status).toBe(200);
    expect(await standing(tenant)).toMatchObject({ standing: 'payment_problem' });
  });

  it('has one effect, however often and in whatever order it is delivered', async () => {
    const tenant = await makeCustomer('reordered');
    const [first, second] = [failed(tenant), paid(tenant)];
    stripe.setUnpaidInvoices(tenant.customerId, 1);
    expect(await deliver(first)).toBe(200);
    stripe.setUnpaidInvoices(tenant.customerId, 0);
    expect(await deliver(second)).toBe(200);
    expect(await standing(tenant)).toMatchObject({ standing: 'good' });
    const asked = stripe.requests.length;
    expect(await deliver(first)).toBe(200);
    expect(stripe.requests).toHaveLength(asked);
    // An event that was late says only that something changed; Stripe says what is true now.
    expect(await deliver(failed(tenant))).toBe(200);
    expect(await standing(tenant)).toMatchObject({ standing: 'good' });
  });

  it('is not confirmed if Stripe cannot be asked, so that it comes again', async () => {
    const tenant = await makeCustomer('later');
    stripe.setUnpaidInvoices(tenant.customerId, 1);
    const body = failed(tenant);
    stripe.breakWith(500);
    expect(await deliver(body)).toBe(503);
    stripe.breakWith(undefined);
    expect(await deliver(body)).toBe(200);
    expect(await standing(tenant)).toMatchObject({ standing: 'payment_problem' });
  });

  it('about a customer or a thing that Gantry does not know changes nothing', async () => {
    expect(await deliver(makeEvent('invoice.paid', { id: 'in_9', customer: 'cus_none' }))).toBe(
      200,
    );
    expect(await deliver(makeEvent('charge.refunded', { id: 'ch_1' }))).toBe(200);
  });
});

describe('an invoice that is not paid', () => {
  it('leads to a notice, a period of grace, a suspension and stopped VMs; the payment ends it', async () => {
    const tenant = await makeCustomer('debtor');
    const vmId = await runVm(tenant);
    stripe.setUnpaidInvoices(tenant.customerId, 2);
    await deliver(failed(tenant));
    const noticed = await standing(tenant);
    expect(noticed).toMatchObject({ standing: 'payment_problem', stops_vms_at: '' });
    expect(Date.parse(noticed.suspends_at) - Date.parse(noticed.since)).toBe(GRACE_MS);
    await enforceStanding(api.deps);
    expect((await call(tenant, 'POST', '/vms', vmBody())).status).toBe(200);
    expect(await vmState(tenant, vmId)).toBe('STATE_RUNNING');

    await graceIsOver(tenant);
    await enforceStanding(api.deps);
    await enforceStanding(api.deps);
    expect(await standing(tenant)).toMatchObject({ standing: 'suspended' });
    expect(await vmState(tenant, vmId)).toBe('STATE_STOPPING');
    const refused = await call(tenant, 'POST', '/vms', vmBody());
    expect([refused.status, refused.body.code]).toEqual([402, 'payment_required']);

    // One of the two invoices is paid: the other one still is not.
    stripe.setUnpaidInvoices(tenant.customerId, 1);
    await deliver(paid(tenant));
    expect(await standing(tenant)).toMatchObject({ standing: 'suspended' });
    stripe.setUnpaidInvoices(tenant.customerId, 0);
    await deliver(paid(tenant));
    expect(await standing(tenant)).toMatchObject({ standing: 'good', suspends_at: '' });
    expect((await call(tenant, 'POST', '/vms', vmBody())).status).toBe(200);
    expect(await eventTypes(vmId)).toEqual([
      ...['vm_organization_warned', 'vm_organization_suspended', 'vm_organization_resumed'],
    ]);
  });

  it('does not suspend an organization that has paid, if the event of the payment was lost', async () => {
    const tenant = await makeCustomer('lost-event');
    stripe.setUnpaidInvoices(tenant.customerId, 1);
    await deliver(failed(tenant));
    await graceIsOver(tenant);
    stripe.setUnpaidInvoices(tenant.customerId, 0);
    stripe.breakWith(500);
    await enforceStanding(api.deps);
    expect(await standing(tenant)).toMatchObject({ standing: 'payment_problem' });
    stripe.breakWith(undefined);
    await enforceStanding(api.deps);
    expect(await standing(tenant)).toMatchObject({ standing: 'good' });
  });
});

describe('a removed card', () => {
  it('is noticed like a missing one, and leads to a suspension unless another one is entered', async () => {
    const tenant = await makeCustomer('cardless');
    expect((await call(tenant, 'GET', '/vms')).status).toBe(200);
    stripe.removePaymentMethods(tenant.customerId);
    const detached = { id: 'pm_1', object: 'payment_method', customer: null };
    const before = { customer: tenant.customerId };
    expect(await deliver(makeEvent('payment_method.detached', detached, before))).toBe(200);
    const reply = await call(tenant, 'GET', '/vms');
    expect([reply.status, reply.body.code]).toEqual([402, 'payment_required']);
    expect(await standing(tenant)).toMatchObject({ standing: 'payment_problem' });
    await graceIsOver(tenant);
    await enforceStanding(api.deps);
    expect(await standing(tenant)).toMatchObject({ standing: 'suspended' });
    stripe.enterPaymentMethod(tenant.customerId);
    expect(await deliver(makeEvent('customer.updated', { id: tenant.customerId }))).toBe(200);
    expect(await standing(tenant)).toMatchObject({ standing: 'good' });
    expect((await call(tenant, 'POST', '/vms', vmBody())).status).toBe(200);
  });

  it('that comes back with the first request solves the problem without an event', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const tenant = await makeCustomer('returning');
    stripe.removePaymentMethods(tenant.customerId);
    await api.deps.billing.collection?.refresh(tenant.organizationId);
    expect(await standing(tenant)).toMatchObject({ standing: 'payment_problem' });
    stripe.enterPaymentMethod(tenant.customerId);
    vi.setSystemTime(Date.now() + 6_000);
    expect((await call(tenant, 'GET', '/vms')).status).toBe(200);
    expect(await standing(tenant)).toMatchObject({ standing: 'good' });
  });
});
