import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { finishVm } from '@gantry/testkit/make/finished';
import { vmBody } from '@gantry/testkit/make/request-bodies';
import { makeTenant, type TestTenant } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let api: TestApi;
let tenant: TestTenant;
let stranger: TestTenant;

beforeAll(async () => {
  api = await startTestApi();
  [tenant, stranger] = await Promise.all([makeTenant(api, 'acme'), makeTenant(api, 'other')]);
});
afterAll(() => api.stop());

const call = (method: string, path: string, body?: unknown, owner = tenant) =>
  api.call(method, `/projects/${owner.projectId}/vms${path}`, { bearer: owner.accessKey, body });

async function createVm(tags: object, owner = tenant): Promise<string> {
  const { body } = await call('POST', '', vmBody({ tags }), owner);
  return body.operation.metadata.id;
}

const tagsOf = async (vmId: string) => (await call('GET', `/${vmId}`)).body.tags;
const found = async (query: string, owner = tenant): Promise<string[]> =>
  (await call('GET', `?${query}`, undefined, owner)).body.items.map(({ id }: { id: string }) => id);

describe('the tags of a VM', () => {
  it('are those of the request that created it, or none', async () => {
    const tags = { env: 'prod', 'example.com/team': 'Ünïcödé: a, b', empty: '', constructor: 'x' };
    expect(await tagsOf(await createVm(tags))).toEqual(tags);
    const { body } = await call('POST', '', vmBody());
    expect(await tagsOf(body.operation.metadata.id)).toEqual({});
  });

  it('are replaced by an UPDATE, which keeps the name and the type', async () => {
    const vmId = await createVm({ env: 'test', owner: 'a' });
    await finishVm(api.sql, vmId, 'running');
    const before = (await call('GET', `/${vmId}`)).body;
    const change = { action: 'UPDATE', tags: { env: 'prod' } };
    const { body } = await call('PATCH', `/${vmId}`, change);
    expect(body.operation).toMatchObject({ state: 'SUCCEEDED', result: { tags: change.tags } });
    const after = (await call('GET', `/${vmId}`)).body;
    expect(after).toEqual({ ...before, tags: change.tags, updated_at: after.updated_at });
    await call('PATCH', `/${vmId}`, { action: 'UPDATE', name: `${before.name}-renamed` });
    expect(await tagsOf(vmId)).toEqual(change.tags);
    await call('PATCH', `/${vmId}`, { action: 'UPDATE', tags: {} });
    expect(await tagsOf(vmId)).toEqual({});
  });

  it.each([
    ['tags', 'env'],
    ['tags', ['env']],
    ['tags', Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`key-${n}`, '']))],
    ['tags.', { '': 'x' }],
    ['tags.a:b', { 'a:b': 'x' }],
    ['tags._a', { _a: 'x' }],
    ['tags.__proto__', JSON.parse('{"__proto__": "x", "env": "prod"}')],
    [`tags.${'k'.repeat(64)}`, { ['k'.repeat(64)]: 'x' }],
    ['tags.env', { env: 7 }],
    ['tags.env', { env: null }],
    ['tags.env', { env: 'v'.repeat(129) }],
    ['tags.env', { env: 'two\nlines' }],
    ['tags.env', { env: 'nul\0' }],
  ])(
    'are refused with the name of the field %s, at creation and by an UPDATE',
    async (field, tags) => {
      const vmId = await createVm({ kept: 'yes' });
      await finishVm(api.sql, vmId, 'running');
      for (const reply of [
        await call('POST', '', vmBody({ tags })),
        await call('PATCH', `/${vmId}`, { action: 'UPDATE', tags }),
      ]) {
        expect([reply.status, reply.body.details?.[0].field]).toEqual([400, field]);
      }
      expect(await tagsOf(vmId)).toEqual({ kept: 'yes' });
    },
  );

  it('are refused with an action other than UPDATE', async () => {
    const reply = await call('PATCH', `/${await createVm({})}`, { action: 'STOP', tags: {} });
    expect([reply.status, reply.body.details?.[0].field]).toEqual([400, 'tags']);
  });
});

describe('a list filtered by tags', () => {
  it('has the VMs with every tag of the filter, and no VM of another project', async () => {
    const both = await createVm({ app: 'web', stage: 'a:b' });
    const one = await createVm({ app: 'web', stage: 'other' });
    const foreign = await createVm({ app: 'web', stage: 'a:b' }, stranger);
    expect(await found('tag=app:web')).toEqual([both, one]);
    expect(await found('tag=app:web&tag=stage:a:b')).toEqual([both]);
    expect(await found('tag=app:web&tag=app:db')).toEqual([]);
    expect(await found('tag=app:we')).toEqual([]);
    expect(await found('tag=app:web', stranger)).toEqual([foreign]);
  });

  it('combines with other filters and with pages', async () => {
    const ids = [await createVm({ page: 'yes' }), await createVm({ page: 'yes' })];
    expect(await found('tag=page:yes&states=STATE_CREATING')).toEqual(ids);
    expect(await found('tag=page:yes&states=STATE_RUNNING')).toEqual([]);
    const first = (await call('GET', '?tag=page:yes&limit=1')).body;
    expect(first.items[0].id).toBe(ids[0]);
    expect(await found(`tag=page:yes&limit=1&page_token=${first.next_page_token}`)).toEqual([
      ids[1],
    ]);
  });

  it.each(['tag=', 'tag=env', 'tag=:value'])('is refused with ?%s', async (query) => {
    const reply = await call('GET', `?${query}`);
    expect([reply.status, reply.body.details?.[0].field]).toEqual([400, 'tag.0']);
  });
});
