import { createSecrets } from '@gantry/daemon/secrets';
import { SECRET_KEY, startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { makeTenant, SSH_PUBLIC_KEY, type TestTenant } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildApp } from '../app.ts';

let api: TestApi;
let tenant: TestTenant;
let vms: string;

beforeAll(async () => {
  api = await startTestApi();
  tenant = await makeTenant(api, 'acme');
  vms = `/projects/${tenant.projectId}/vms`;
});
afterAll(() => api.stop());

const body = (name: string) => ({
  name,
  type: 'a40.1x',
  location: 'eu-north-a',
  image: 'debian-12',
  ssh_public_key: SSH_PUBLIC_KEY,
});
const send = (
  method: string,
  path: string,
  value: unknown,
  key: string,
  bearer = tenant.accessKey,
) => api.call(method, path, { bearer, body: value, headers: { 'idempotency-key': key } });
const vmCount = async () => Number((await api.sql`select count(*) from vms`)[0]?.['count']);

it('the same key with the same request returns the first reply again and creates nothing', async () => {
  const first = await send('POST', vms, body('one'), 'k1');
  const count = await vmCount();
  const second = await send('POST', vms, body('one'), 'k1');
  expect(second.status).toBe(200);
  expect(second.body).toEqual(first.body);
  expect(await vmCount()).toBe(count);
});

it('ten concurrent requests with one key create one VM, and all get its reply', async () => {
  const count = await vmCount();
  const replies = await Promise.all(
    Array.from({ length: 10 }, () => send('POST', vms, body('ten'), 'k10')),
  );
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
  expect(new Set(replies.map((reply) => reply.body.operation.operation_id)).size).toBe(1);
  expect(await vmCount()).toBe(count + 1);
});

it('the same key with another request is refused, whatever differs', async () => {
  await send('POST', vms, body('two'), 'k2');
  for (const [method, path, value] of [
    ['POST', vms, body('three')],
    [
      'POST',
      `/projects/${tenant.projectId}/disks`,
      { name: 'd', size: '1GiB', location: 'eu-north-a' },
    ],
  ] as const) {
    const reply = await send(method, path, value, 'k2');
    expect([reply.status, reply.body.code]).toEqual([409, 'idempotency_key_reused']);
  }
});

it('a repeated key returns the reply of a write that could not succeed twice', async () => {
  const created = await send('POST', vms, body('four'), 'k4');
  const path = `${vms}/${created.body.operation.metadata.id}`;
  const first = await send('DELETE', path, undefined, 'k4-delete');
  const second = await send('DELETE', path, undefined, 'k4-delete');
  expect(first.status).toBe(200);
  expect(second.body).toEqual(first.body);
});

it('a refused request leaves the key unused', async () => {
  const refused = await send('POST', vms, { ...body('five'), image: 'plan9' }, 'k5');
  expect(refused.status).toBe(422);
  expect((await send('POST', vms, body('five'), 'k5')).status).toBe(200);
});

it('the same key of two callers is independent', async () => {
  const first = await send('POST', vms, body('six'), 'k6');
  const second = await send('POST', vms, body('seven'), 'k6', tenant.owner.token);
  expect([first.status, second.status]).toEqual([200, 200]);
});

it('a key can be used again after 24 hours', async () => {
  await send('POST', vms, body('eight'), 'k8');
  await api.sql`update idempotency_keys set created_at = now() - interval '25 hours' where key = 'k8'`;
  expect((await send('POST', vms, body('nine'), 'k8')).status).toBe(200);
});

it('a key that is not 1 to 255 printable ASCII characters is refused by name', async () => {
  const reply = await send('POST', vms, body('ten-b'), 'x'.repeat(256));
  expect([reply.status, reply.body.details[0].field]).toEqual([400, 'Idempotency-Key']);
});

it('a repeated request gets its first reply while the secret key is replaced', async () => {
  const NEW = 'the new secret key for tests, long enough';
  const created = async (...keys: string[]) => {
    const app = buildApp({ ...api.deps, secrets: createSecrets(keys.join('\n')) });
    const reply = await app.request(`/v0.1/projects/${tenant.projectId}/access-keys`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${tenant.owner.token}`,
        'content-type': 'application/json',
        'idempotency-key': `rotation-${first}`,
      },
      body: JSON.stringify({ name: `rotation-${first}`, role: 'member' }),
    });
    return { status: reply.status, text: await reply.text() };
  };
  // The first request comes before the first step, and then during the second one.
  let first = 1;
  const before = await created(SECRET_KEY);
  expect(before.status).toBe(200);
  expect(await created(SECRET_KEY, NEW)).toEqual(before);
  expect(await created(NEW, SECRET_KEY)).toEqual(before);
  first = 2;
  const during = await created(NEW, SECRET_KEY);
  expect(during.status).toBe(200);
  expect(await created(SECRET_KEY, NEW)).toEqual(during);
  expect(await created(NEW)).toEqual(during);
});
