import { newId } from '@gantry/model/ids';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { newName, vmBody } from '@gantry/testkit/make/request-bodies';
import { makeTenant, makeUser, type TestTenant } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, expect, it } from 'vitest';

let api: TestApi;
let operator: string;
let tenant: TestTenant;

beforeAll(async () => {
  api = await startTestApi();
  operator = (await makeUser(api, 'operator@gantry.test', { operator: true })).token;
  tenant = await makeTenant(api, 'acme');
});
afterAll(() => api.stop());

const call = (method: string, path: string, body?: unknown) =>
  api.call(method, `/admin/storage${path}`, { bearer: operator, body });
const CLUSTER = { monitors: ['10.0.0.1:3300'], user_name: 'gantry' };
const addCluster = async () =>
  (await call('POST', '/clusters', { name: newName(), ...CLUSTER })).body;
const POOL = { name: 'volumes', location: 'eu-north-a', disk_type: 'persistent-ssd' };

it('a cluster is created, read, listed and deleted', async () => {
  const created = await call('POST', '/clusters', { name: 'main', ...CLUSTER });
  expect([created.status, created.body]).toEqual([
    200,
    {
      ...{ id: expect.any(String), name: 'main', ...CLUSTER },
      ...{ fsid: '', problem: '', created_at: expect.any(String) },
    },
  ]);
  const { id } = created.body;
  expect((await call('GET', `/clusters/${id}`)).body).toEqual(created.body);
  expect((await call('GET', `/clusters?ids=${id}`)).body.items).toEqual([created.body]);
  expect((await call('POST', '/clusters', { name: 'main', ...CLUSTER })).body.code).toBe(
    'name_taken',
  );
  expect((await call('DELETE', `/clusters/${id}`)).status).toBe(200);
  expect((await call('GET', `/clusters/${id}`)).status).toBe(404);
});

it.each([
  ['monitors', { monitors: [] }],
  ['monitors.0', { monitors: ['10.0.0.1'] }],
  ['monitors.0', { monitors: ['10.0.0.256:3300'] }],
  ['monitors.0', { monitors: ['mon.example:3300'] }],
  ['user_name', { user_name: 'a b' }],
  ['name', { name: '../x' }],
])('a cluster with an unusable %s is refused', async (field, wrong) => {
  const refused = await call('POST', '/clusters', { name: newName(), ...CLUSTER, ...wrong });
  expect([refused.status, refused.body.details?.[0]?.field]).toEqual([400, field]);
});

it('a pool is created, changed, and deleted when it is inactive and empty', async () => {
  const cluster = await addCluster();
  const created = await call('POST', '/pools', { ...POOL, storage_cluster_id: cluster.id });
  expect([created.status, created.body]).toMatchObject([
    200,
    {
      storage_cluster_id: cluster.id,
      ...POOL,
      active: true,
      overcommit_percent: 100,
      size_gib: 0,
    },
  ]);
  const path = `/pools/${created.body.id}`;
  expect((await call('DELETE', `/clusters/${cluster.id}`)).status).toBe(409);
  expect((await call('DELETE', path)).status).toBe(409);
  expect((await call('PATCH', path, {})).status).toBe(400);
  expect((await call('PATCH', path, { active: false })).body).toMatchObject({ active: false });
  expect((await call('DELETE', path)).status).toBe(200);
  expect((await call('DELETE', `/clusters/${cluster.id}`)).status).toBe(200);
});

it.each([
  ['storage_cluster_id', { storage_cluster_id: newId() }, 404],
  ['disk_type', { disk_type: 'shared-volume' }, 400],
  ['overcommit_percent', { overcommit_percent: 0 }, 400],
  ['location', { location: 'mars' }, 422],
])('a pool with an unusable %s is refused', async (_, wrong, status) => {
  const cluster = await addCluster();
  const pool = { ...POOL, storage_cluster_id: cluster.id, ...wrong };
  expect((await call('POST', '/pools', pool)).status).toBe(status);
});

it('new disks of a location go to its pool while there is room, and are refused afterwards', async () => {
  const cluster = await addCluster();
  const { body: pool } = await call('POST', '/pools', { ...POOL, storage_cluster_id: cluster.id });
  await api.sql`update storage_pools set size_gib = 130, allocated_gib = 0 where id = ${pool.id}`;
  const create = (path: string, body: unknown) =>
    api.call('POST', `/projects/${tenant.projectId}${path}`, { bearer: tenant.accessKey, body });
  const vm = await create('/vms', vmBody());
  expect(vm.status).toBe(200);
  const disks =
    await api.sql`select pool_id, wants_key from disks d join disk_attachments a on a.disk_id = d.id
    where a.vm_id = ${vm.body.operation.metadata.id}`;
  expect(disks).toEqual([{ pool_id: pool.id, wants_key: true }]);
  await api.sql`update storage_pools set allocated_gib = 128 where id = ${pool.id}`;
  const disk = { name: newName(), type: 'persistent-ssd', location: 'eu-north-a', block_size: 512 };
  expect((await create('/disks', { ...disk, size: '2GiB' })).status).toBe(200);
  const refused = await create('/disks', { ...disk, name: newName(), size: '3GiB' });
  expect([refused.status, refused.body.message]).toEqual([
    503,
    expect.stringContaining('the storage in eu-north-a has no room for a disk of 3 GiB'),
  ]);
  const elsewhere = await create('/disks', {
    ...disk,
    name: newName(),
    size: '3GiB',
    location: 'us-east-a',
  });
  expect(elsewhere.status).toBe(200);
  expect((await call('PATCH', `/pools/${pool.id}`, { active: false })).status).toBe(200);
  expect((await call('DELETE', `/pools/${pool.id}`)).status).toBe(409);
});
