import { newId } from '@gantry/model/ids';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { addHosts } from '@gantry/testkit/make/hosts';
import { makeUser, type TestUser } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, expect, it } from 'vitest';

let api: TestApi;
let operator: TestUser;
beforeAll(async () => {
  api = await startTestApi();
  operator = await makeUser(api, 'operator@gantry.test', { operator: true });
});
afterAll(() => api.stop());

const call = (method: string, path = '', body?: unknown) =>
  api.call(method, `/admin/rollouts${path}`, { bearer: operator.token, body });

async function labelled(count: number): Promise<{ rack: string }> {
  const rack = newId();
  const hosts = await addHosts(api.sql, count);
  const ids = hosts.map(({ id }) => id);
  await api.sql`update hosts set labels = jsonb_build_object('rack', ${rack}::text) where id = any(${ids}::uuid[])`;
  return { rack };
}

it('a rollout selects hosts by all of their labels, and puts them into waves by name', async () => {
  const labels = await labelled(5);
  await labelled(3);
  const body = { version: '0.2.0', labels, canary_count: 2, batch_size: 2 };
  const created = await call('POST', '', body);
  expect([created.status, created.body]).toMatchObject([
    200,
    { ...body, state: 'running', last_wave: 2, max_failures: 0, hosts: { pending: 5, done: 0 } },
  ]);
  const { id } = created.body;
  expect((await call('GET', `/${id}`)).body).toEqual(created.body);
  expect((await call('GET')).body.items).toContainEqual(created.body);
  const first = (await call('GET', `/${id}/hosts?limit=3`)).body;
  const rest = (await call('GET', `/${id}/hosts?limit=3&page_token=${first.next_page_token}`)).body;
  const all: { name: string; wave: number }[] = [...first.items, ...rest.items];
  const waves = all.toSorted((a, b) => (a.name < b.name ? -1 : 1)).map(({ wave }) => wave);
  expect(waves).toEqual([0, 0, 1, 1, 2]);
  expect((await call('GET', `/${id}/hosts?state=done`)).body.items).toEqual([]);
});

it.each([
  ['version', { version: 'gantry; reboot' }],
  ['version', { version: '-o' }],
  ['labels', { labels: { rack: 'nowhere' } }],
  ['labels', { labels: undefined }],
  ['batch_size', { batch_size: 0 }],
  ['canary_count', { canary_count: -1 }],
  ['host_time_limit_seconds', { host_time_limit_seconds: 5 }],
  ['max_failures', { max_failures: 1.5 }],
  ['force', { force: true }],
])('a request with a wrong %s is refused, names it and creates nothing', async (field, wrong) => {
  const labels = await labelled(1);
  const before = await api.sql`select id from rollouts`;
  const { status, body } = await call('POST', '', { version: '0.2.0', labels, ...wrong });
  expect(status).toBe(400);
  expect(body.details).toMatchObject([{ field }]);
  expect(await api.sql`select id from rollouts`).toEqual(before);
});

it('a host is in one rollout at a time', async () => {
  const labels = await labelled(2);
  const { body: first } = await call('POST', '', { version: '0.2.0', labels });
  const second = await call('POST', '', { version: '0.3.0', labels });
  expect([second.status, second.body.code]).toEqual([409, 'conflict']);
  expect(second.body.message).toContain('another rollout that has not ended');
  await api.sql`update rollouts set state = 'completed', ended_at = now() where id = ${first.id}`;
  await api.sql`update rollout_hosts set active = false, order_id = gen_random_uuid() where rollout_id = ${first.id}`;
  expect((await call('POST', '', { version: '0.3.0', labels })).status).toBe(200);
  // The hosts of the ended rollout belong to the newer one now.
  expect((await call('POST', `/${first.id}:roll-back`)).status).toBe(409);
  expect((await call('GET', `/${first.id}`)).body.state).toBe('completed');
});

it('verbs change the state, are idempotent, and are refused if they do not fit', async () => {
  const { body } = await call('POST', '', { version: '0.2.0', labels: await labelled(1) });
  const act = async (verb: string) => {
    const reply = await call('POST', `/${body.id}:${verb}`);
    return reply.status === 200 ? reply.body.state : reply.status;
  };
  expect(await act('resume')).toBe('running');
  expect([await act('pause'), await act('pause')]).toEqual(['paused', 'paused']);
  expect((await call('GET', `/${body.id}`)).body.state_reason).toBe('an operator paused it');
  expect(await act('resume')).toBe('running');
  expect([await act('cancel'), await act('cancel')]).toEqual(['cancelling', 'cancelling']);
  expect([await act('pause'), await act('resume')]).toEqual([409, 409]);
  expect([await act('roll-back'), await act('roll-back')]).toEqual([
    'rolling_back',
    'rolling_back',
  ]);
  expect(await act('cancel')).toBe(409);
  expect((await call('POST', `/${newId()}:pause`)).status).toBe(404);
  const lines = await api.sql`select action from audit_logs
    where resource_id = ${body.id} and status = 200 order by id`;
  expect(lines.slice(0, 2)).toMatchObject([
    { action: 'admin-rollouts.create' },
    { action: 'admin-rollouts.resume' },
  ]);
  const events = await api.sql`select data from stream_events
    where type = 'rollout' and data ->> 'id' = ${body.id} order by number`;
  expect(events.map(({ data }) => data.state)).toEqual([
    ...['running', 'paused', 'running', 'cancelling', 'rolling_back'],
  ]);
});

it('a resumed rollout forgives the hosts that have failed', async () => {
  const { body } = await call('POST', '', { version: '0.2.0', labels: await labelled(3) });
  await api.sql`update rollout_hosts set state = 'failed' where rollout_id = ${body.id}`;
  await call('POST', `/${body.id}:pause`);
  await call('POST', `/${body.id}:resume`);
  expect(await api.sql`select forgiven_failures from rollouts where id = ${body.id}`).toEqual([
    { forgiven_failures: 3 },
  ]);
});
