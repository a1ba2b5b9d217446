import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { vmBody } from '@gantry/testkit/make/request-bodies';
import { makeTenant, SSH_PUBLIC_KEY, type TestTenant } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let api: TestApi;
let tenant: TestTenant;
let stranger: TestTenant;

beforeAll(async () => {
  api = await startTestApi();
  [tenant, stranger] = await Promise.all([makeTenant(api, 'acme'), makeTenant(api, 'other')]);
  await Promise.all([store(tenant, 'laptop', SECOND), store(stranger, 'foreign', THIRD)]);
});
afterAll(() => api.stop());

const create = (fields: Record<string, unknown>) =>
  api.call('POST', `/projects/${tenant.projectId}/vms`, {
    bearer: tenant.accessKey,
    body: vmBody(fields),
  });
const store = (owner: TestTenant, name: string, public_key: string) =>
  api.call('POST', `/projects/${owner.projectId}/ssh-keys`, {
    ...{ bearer: owner.accessKey, body: { name, public_key } },
  });
const countVms = async () => Number((await api.sql`select count(*) from vms`)[0]?.['count']);

async function storedKeys(vmId: string) {
  const [row] = await api.sql`select ssh_public_key, ssh_keys from vms where id = ${vmId}`;
  return row;
}

const SECOND = `${SSH_PUBLIC_KEY} second`;
const THIRD = `${SSH_PUBLIC_KEY} third`;

describe('ssh_keys of a new VM', () => {
  it.each([
    ['beside ssh_public_key', { ssh_keys: [` ${SECOND}\n`, THIRD] }, SSH_PUBLIC_KEY],
    ['by name', { ssh_keys: ['laptop', THIRD] }, SSH_PUBLIC_KEY],
    ['without ssh_public_key', { ssh_public_key: undefined, ssh_keys: [SECOND, THIRD] }, ''],
  ])('are stored %s, and the operation echoes them', async (_, fields, ssh_public_key) => {
    const { status, body } = await create(fields);
    expect(status).toBe(200);
    const { id, request } = body.operation.metadata;
    expect(request.ssh_keys).toEqual([SECOND, THIRD]);
    expect(request.ssh_public_key ?? '').toBe(ssh_public_key);
    expect(await storedKeys(id)).toEqual({ ssh_public_key, ssh_keys: [SECOND, THIRD] });
    const path = `/projects/${tenant.projectId}/vms/operations/${body.operation.operation_id}`;
    const read = await api.call('GET', path, { bearer: tenant.accessKey });
    expect(read.body.metadata.request).toEqual(request);
  });

  it.each<[string, string, Record<string, unknown>]>([
    ['ssh_keys', 'a text', { ssh_keys: SECOND }],
    ['ssh_keys', 'too many', { ssh_keys: Array.from({ length: 33 }, (_, n) => `${SECOND}${n}`) }],
    [
      'ssh_keys',
      'too large together',
      { ssh_keys: Array.from({ length: 5 }, () => `${SECOND}${'k'.repeat(15_000)}`) },
    ],
    ['ssh_keys.1', 'two lines', { ssh_keys: [SECOND, `${SECOND}\n${THIRD}`] }],
    ['ssh_keys.0', 'a private key', { ssh_keys: ['-----BEGIN OPENSSH PRIVATE KEY-----'] }],
    ['ssh_keys.0', 'a number', { ssh_keys: [7] }],
    ['ssh_keys.1', 'a name that does not exist', { ssh_keys: ['laptop', 'phone'] }],
    ['ssh_keys.0', 'a name of another project', { ssh_keys: ['foreign'] }],
    ['ssh_public_key', 'a name', { ssh_public_key: 'laptop' }],
    ['ssh_public_key', 'no key at all', { ssh_public_key: undefined }],
    ['ssh_keys', 'null', { ssh_public_key: undefined, ssh_keys: null }],
    ['ssh_public_key', 'an empty list', { ssh_public_key: undefined, ssh_keys: [] }],
  ])('are refused with the name of the field %s: %s', async (field, _, fields) => {
    const before = await countVms();
    const reply = await create(fields);
    expect([reply.status, reply.body.details?.[0].field]).toEqual([400, field]);
    expect(await countVms()).toBe(before);
  });

  it('may be an empty list beside ssh_public_key', async () => {
    const { body } = await create({ ssh_keys: [] });
    expect(body.operation.metadata.request).not.toHaveProperty('ssh_keys');
    expect(await storedKeys(body.operation.metadata.id)).toMatchObject({ ssh_keys: [] });
  });

  it('stay when the stored key is deleted', async () => {
    const { body: key } = await store(tenant, 'temporary', SECOND);
    const { body } = await create({ ssh_keys: ['temporary'] });
    const path = `/projects/${tenant.projectId}/ssh-keys/${key.id}`;
    expect((await api.call('DELETE', path, { bearer: tenant.accessKey })).status).toBe(200);
    expect(await storedKeys(body.operation.metadata.id)).toMatchObject({ ssh_keys: [SECOND] });
    expect((await create({ ssh_keys: ['temporary'] })).status).toBe(400);
  });

  it('that are missing are reported together with the errors of other fields', async () => {
    const { body } = await create({ ssh_public_key: undefined, name: 'Not A Name' });
    const fields = body.details.map(({ field }: { field: string }) => field);
    expect(fields).toEqual(['name', 'ssh_public_key']);
  });
});
