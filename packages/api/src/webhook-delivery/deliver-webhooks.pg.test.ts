import type { Sql } from '@gantry/db/connect';
import { insertEvents } from '@gantry/db/queries/operations/events';
import { newId } from '@gantry/model/ids';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import {
  type SinkMessage,
  startWebhookSink,
  type WebhookSink,
} from '@gantry/testkit/api/webhook-sink';
import { makeTenant, makeUser, type TestTenant } from '@gantry/testkit/make/tenants';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { deliverWebhooks, type WebhookDelivery } from './deliver-webhooks.ts';
import { signatureHeaders } from './sign.ts';
import { type WebhookTimings, webhookTimings } from './timings.ts';

const ANY = () => ({ allowsPrivate: true, allowsLoopback: true });
let api: TestApi;
let tenant: TestTenant;
let sink: WebhookSink;
let operatorToken: string;
const running: WebhookDelivery[] = [];

beforeAll(async () => {
  api = await startTestApi({ webhookRules: ANY });
  operatorToken = (await makeUser(api, 'operator@gantry.test', { operator: true })).token;
});
afterAll(() => api.stop());
let tenants = 0;
beforeEach(async () => {
  tenants += 1;
  tenant = await makeTenant(api, `tenant-${tenants}`);
  sink = await startWebhookSink();
});
afterEach(async () => {
  sink.stop();
  await Promise.all(running.splice(0).map((one) => one.stop()));
  await api.sql`delete from webhooks`;
});

const deliver = (timings: Partial<WebhookTimings> = {}, sql: Sql = api.sql) => {
  const short = { ...webhookTimings({ replyMs: 60_000, retryMs: 5 }), pollMs: 20 };
  const { log, secrets } = api.deps;
  const one = deliverWebhooks({
    ...{ sql, log, secrets, rulesOf: ANY, nowMs: Date.now, timings: { ...short, ...timings } },
  });
  running.push(one);
  return one;
};
const call = async (method: string, path: string, body?: object, of = tenant) => {
  const reply = await api.call(method, `/projects/${of.projectId}/webhooks${path}`, {
    ...{ bearer: of.accessKey, ...(body && { body }) },
  });
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
  return reply.body;
};
const create = (body: object = {}, of = tenant) =>
  call('POST', '', { name: `w-${newId().slice(-8)}`, url: sink.url, ...body }, of);
const event = (resourceId: string, message = '') => ({
  ...{ projectId: tenant.projectId, resourceType: 'vm' as const, type: 'vm_crashed' as const },
  ...{ resourceId, message },
});
/** Each resource gets so many events, whose messages are numbers. */
const happen = async (resources: string[], count: number, first = 0) => {
  for (let number = first; number < first + count; number += 1)
    await insertEvents(
      api.sql,
      resources.map((id) => event(id, String(number))),
    );
};
const accepted = (from = sink) => from.messages.filter((message) => message.accepted);
const numbersOf = (resource: string, messages: SinkMessage[]) =>
  messages
    .filter(({ data }) => data.resource_id === resource)
    .map(({ data }) => Number(data.message));
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);
const pendingOf = async (id: string) =>
  (await call('GET', `/${id}/deliveries?state=pending`)).items.length;

describe('delivery', () => {
  it('every event is sent once and in order, signed with the secret', async () => {
    const { secret } = await create();
    const resources = [newId(), newId(), newId()];
    deliver();
    await happen(resources, 20);
    await expect.poll(() => sink.messages.length).toBe(60);
    for (const resource of resources) expect(numbersOf(resource, sink.messages)).toEqual(upTo(20));
    expect(new Set(sink.messages.map(({ id }) => id)).size).toBe(60);
    for (const { id, headers, body } of sink.messages) {
      const timestampS = Number(headers['webhook-timestamp']);
      expect(headers).toMatchObject(signatureHeaders({ id, timestampS, body }, [secret]));
    }
    expect(sink.messages[0]).toMatchObject({ type: 'event', data: { type: 'vm_crashed' } });
  });

  it('several processes share the webhooks, and each event is sent once', async () => {
    const webhooks = [await create(), await create(), await create()];
    const resources = [newId(), newId()];
    deliver();
    deliver();
    deliver();
    await happen(resources, 30);
    const expected = 60 * webhooks.length;
    await expect.poll(() => sink.messages.length).toBe(expected);
    for (const { id } of webhooks) await expect.poll(() => pendingOf(id)).toBe(0);
    expect(sink.messages).toHaveLength(expected);
  });

  it('a resource that fails holds up its own events only, which then come in order', async () => {
    const { id } = await create();
    const [bad, good] = [newId(), newId()];
    let fails = true;
    sink.reply(({ data }) => (fails && data.resource_id === bad ? 500 : 200));
    deliver();
    await happen([bad, good], 10);
    await expect.poll(() => numbersOf(good, accepted())).toEqual(upTo(10));
    expect(new Set(numbersOf(bad, sink.messages))).toEqual(new Set([0]));
    fails = false;
    await expect.poll(() => numbersOf(bad, accepted())).toEqual(upTo(10));
    await expect.poll(() => pendingOf(id)).toBe(0);
  });

  it('an event is given up after its time, and the next one of its resource is sent', async () => {
    const { id } = await create();
    const resource = newId();
    sink.reply(({ data }) =>
      data.resource_id === resource && data.message === '0' ? 'drop' : 200,
    );
    // Another resource succeeds meanwhile, so that the webhook is not disabled, unless the machine stalls for this long.
    const other = newId();
    deliver({ giveUpMs: 1_000, retryMs: 20, maxRetryMs: 200 });
    await happen([resource], 2);
    let number = 0;
    await expect
      .poll(async () => {
        if ((await call('GET', `/${id}`)).state === 'disabled') await call('POST', `/${id}:enable`);
        await happen([other], 1, number++);
        return numbersOf(resource, accepted());
      })
      .toEqual([1]);
    const { items } = await call('GET', `/${id}/deliveries?resource_id=${resource}&state=failed`);
    expect(items).toMatchObject([
      {
        state: 'failed',
        status_code: 0,
        error: 'the request failed: ECONNRESET',
        next_attempt_at: '',
      },
    ]);
    expect(items[0].attempts).toBeGreaterThan(1);
  });

  it('only events of the chosen types are sent, to operators with the project', async () => {
    await create({ event_types: ['operation'] });
    const reply = await api.call('POST', '/admin/webhooks', {
      ...{ bearer: operatorToken, body: { name: 'all', url: sink.url, event_types: ['event'] } },
    });
    expect(reply.status).toBe(200);
    deliver();
    const resource = newId();
    await happen([resource], 1);
    // The webhook of operators may also get events of other tenants from just before it was created.
    const sent = () => sink.messages.filter(({ data }) => data.resource_id === resource);
    await expect.poll(sent).toHaveLength(1);
    expect(sent()[0]?.data.project_id).toBe(tenant.projectId);
  });

  it('receivers that do not reply do not keep other tenants waiting', async () => {
    const slow = await startWebhookSink();
    slow.reply(() => 'hang');
    for (let count = 0; count < 10; count += 1) await create({ url: slow.url });
    deliver();
    await happen(
      Array.from({ length: 20 }, () => newId()),
      1,
    );
    await expect.poll(() => slow.messages.length).toBe(100);
    const other = await makeTenant(api, 'quick');
    await create({}, other);
    const resource = newId();
    await insertEvents(api.sql, [{ ...event(resource, '0'), projectId: other.projectId }]);
    await expect.poll(() => numbersOf(resource, accepted())).toEqual([0]);
    // At most ten requests are sent to a webhook at a time.
    expect(slow.messages).toHaveLength(100);
    slow.stop();
  });

  it('nothing is written while there are no webhooks', async () => {
    const statements: string[] = [];
    const recording = new Proxy(api.sql, {
      apply(target, self, args: [TemplateStringsArray]) {
        statements.push((args[0][0] ?? '').trim().split(/\s/)[0] ?? '');
        return Reflect.apply(target, self, args);
      },
    });
    const one = deliver({}, recording);
    await happen([newId()], 5);
    await expect.poll(() => statements.length).toBeGreaterThan(0);
    await one.stop();
    expect(statements.filter((word) => ['insert', 'update', 'delete'].includes(word))).toEqual([]);
  });
});

describe('a webhook that fails', () => {
  it('is disabled if nothing was accepted for a time, and continues in order when it is enabled', async () => {
    const { id } = await create();
    const resource = newId();
    sink.reply(() => 503);
    deliver({ giveUpMs: 150, retryMs: 20 });
    // Each event is given up after the same time, so there has to be a later one that fails.
    let next = 0;
    const reason = async () => {
      await happen([resource], 1, next);
      next += 1;
      return (await call('GET', `/${id}`)).disabled_reason;
    };
    await expect.poll(reason).toContain('no event could be delivered');
    const seen = sink.messages.length;
    sink.reply(() => 200);
    await happen([resource], 3, next);
    const conflict = await api.call('POST', `/projects/${tenant.projectId}/webhooks/${id}:test`, {
      bearer: tenant.accessKey,
    });
    expect([conflict.status, sink.messages.length]).toEqual([409, seen]);
    expect(await call('POST', `/${id}:enable`)).toMatchObject({ state: 'enabled' });
    await expect
      .poll(() => numbersOf(resource, accepted()).slice(-3))
      .toEqual([next, next + 1, next + 2]);
    const numbers = numbersOf(resource, accepted());
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  });

  it('is disabled at once if the receiver replies 410', async () => {
    const { id } = await create();
    sink.reply(() => 410);
    const resources = Array.from({ length: 80 }, () => newId());
    await happen(resources, 1);
    deliver();
    await expect.poll(async () => (await call('GET', `/${id}`)).disabled_reason).toContain('410');
    // Only what was being sent when the first reply arrived, and not all that had been read.
    expect(sink.messages.length).toBeLessThanOrEqual(10);
  });

  it('gets a reset if events were removed before they could be sent', async () => {
    await create();
    await api.sql`update webhook_queues set xid = '3'`;
    const [before] = await api.sql`select stream_since::text as since from installation`;
    await api.sql`update installation set stream_since = '4'::xid8 where stream_since < '4'::xid8`;
    deliver();
    await expect.poll(() => sink.messages.map(({ type }) => type)).toEqual(['reset']);
    const resource = newId();
    await happen([resource], 1);
    await expect.poll(() => numbersOf(resource, sink.messages)).toEqual([0]);
    await api.sql`update installation set stream_since = ${before?.['since']}::text::xid8`;
  });
});

describe('requests about a webhook', () => {
  it('a test message is sent once, and its delivery shows the result', async () => {
    const { id } = await create();
    sink.reply(() => 500);
    deliver();
    const { id: deliveryId, state } = await call('POST', `/${id}:test`);
    expect(state).toBe('pending');
    const read = () => call('GET', `/${id}/deliveries/${deliveryId}`);
    await expect.poll(async () => (await read()).state).toBe('failed');
    expect(await read()).toMatchObject({
      ...{ event_type: 'test', attempts: 1, status_code: 500, error: 'the receiver replied 500' },
      next_attempt_at: '',
    });
    expect(sink.messages.map(({ type, data }) => [type, data])).toEqual([
      ['test', { webhook_id: id }],
    ]);
  });

  it('a replay sends later events again, in order and with their ids', async () => {
    const { id } = await create();
    const resource = newId();
    deliver();
    await happen([resource], 6);
    await expect.poll(() => sink.messages.length).toBe(6);
    const ids = sink.messages.map((message) => message.id);
    await call('POST', `/${id}:replay`, { after_event_id: ids[2] });
    await expect
      .poll(() => sink.messages.slice(6).map((message) => message.id))
      .toEqual(ids.slice(3));
    const { items } = await call('GET', `/${id}/deliveries?event_id=${ids[1]}`);
    await call('POST', `/${id}:replay`, { since: items[0].created_at });
    await expect.poll(() => sink.messages.at(-1)?.id).toBe(ids[5]);
  });

  it('a replay does not send what is pending twice', async () => {
    const { id } = await create();
    const resource = newId();
    sink.reply(({ data }) => (data.message === '2' ? 500 : 200));
    deliver({ retryMs: 300_000 });
    await happen([resource], 5);
    await expect.poll(() => numbersOf(resource, sink.messages)).toEqual([0, 1, 2]);
    await expect.poll(() => pendingOf(id)).toBe(3);
    sink.reply(() => 200);
    await call('POST', `/${id}:replay`, { after_event_id: sink.messages[0]?.id });
    await expect.poll(() => numbersOf(resource, sink.messages)).toEqual([0, 1, 2, 1, 2, 3, 4]);
  });

  it('messages have the signatures of both secrets after a rotation', async () => {
    const { id, secret } = await create();
    const rotated = await call('POST', `/${id}:rotate-secret`);
    expect(rotated.secret).not.toBe(secret);
    expect(new Date(rotated.old_secret_expires_at).getTime()).toBeGreaterThan(
      Date.now() + 3_600_000,
    );
    deliver();
    await happen([newId()], 1);
    await expect.poll(() => sink.messages.length).toBe(1);
    const [{ id: eventId, headers, body }] = sink.messages as [SinkMessage];
    const timestampS = Number(headers['webhook-timestamp']);
    const message = { id: eventId, timestampS, body };
    expect(headers).toMatchObject(signatureHeaders(message, [rotated.secret, secret]));
  });
});
