import { newId } from '@gantry/model/ids';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { addHost } from '@gantry/testkit/make/hosts';
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
      encrypted: false,
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
  ['disk_type', { disk_type: 'tape' }, 400],
  ['file_system', { disk_type: 'shared-volume' }, 400],
  ['file_system', { file_system: 'shared' }, 400],
  ['file_system', { disk_type: 'shared-volume', file_system: 'a/b' }, 400],
  ['encrypted', { disk_type: 'shared-volume', file_system: 'shared', encrypted: true }, 400],
  ['overcommit_percent', { overcommit_percent: 0 }, 400],
  ['location', { location: 'mars' }, 422],
])('a pool with an unusable %s is refused', async (field, wrong, status) => {
  const cluster = await addCluster();
  const pool = { ...POOL, storage_cluster_id: cluster.id, ...wrong };
  const refused = await call('POST', '/pools', pool);
  expect(refused.status).toBe(status);
  if (status === 400) expect(refused.body.details).toMatchObject([{ field }]);
});

it('the active pools of a location are all encrypted or none is, so that no new disk is encrypted by chance', async () => {
  const { id: storage_cluster_id } = await addCluster();
  const create = (name: string, fields: object) =>
    call('POST', '/pools', { ...POOL, location: 'us-east-a', storage_cluster_id, name, ...fields });
  const plain = await create('plain', {});
  const refused = await create('secret', { encrypted: true });
  expect([refused.status, refused.body.details]).toMatchObject([400, [{ field: 'encrypted' }]]);
  const secret = await create('secret', { encrypted: true, active: false });
  expect([secret.status, secret.body]).toMatchObject([200, { encrypted: true, active: false }]);
  const activate = () => call('PATCH', `/pools/${secret.body.id}`, { active: true });
  expect((await activate()).body.details).toMatchObject([{ field: 'active' }]);
  const change = { encrypted: true };
  expect((await call('PATCH', `/pools/${plain.body.id}`, change)).status).toBe(400);
  await call('PATCH', `/pools/${plain.body.id}`, { active: false });
  expect((await activate()).body).toMatchObject({ encrypted: true, active: true });
  const disk = { name: newName(), location: 'us-east-a', size: '1GiB' };
  const { body } = await api.call('POST', `/projects/${tenant.projectId}/disks`, {
    ...{ bearer: tenant.accessKey, body: disk },
  });
  const found = await api.call(
    'GET',
    `/projects/${tenant.projectId}/disks/${body.operation.metadata.id}`,
    { bearer: tenant.accessKey },
  );
  expect(found.body).toMatchObject({ encrypted: true });
  // Later tests need a location without pools.
  await api.sql`delete from disks where id = ${found.body.id}`;
  await api.sql`delete from discarded_volumes`;
  await api.sql`delete from storage_pools where cluster_id = ${storage_cluster_id}`;
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
  expect([refused.status, refused.body]).toMatchObject([
    422,
    {
      code: 'out_of_stock',
      message: expect.stringContaining('the storage in eu-north-a has no room for 3 GiB more'),
      details: { location: 'eu-north-a', disk_type: 'persistent-ssd', gib: 3 },
    },
  ]);
  const elsewhere = await create('/disks', {
    ...disk,
    name: newName(),
    size: '3GiB',
    location: 'us-east-a',
  });
  expect(elsewhere.status).toBe(200);
  const listed = await api.call('GET', `/projects/${tenant.projectId}/disks`, {
    bearer: tenant.accessKey,
  });
  const seen = listed.body.items.map(
    (one: { location: string; storage: string }) => `${one.location} ${one.storage}`,
  );
  expect(new Set(seen)).toEqual(new Set(['eu-north-a network', 'us-east-a local']));
  expect((await call('PATCH', `/pools/${pool.id}`, { active: false })).status).toBe(200);
  expect((await call('DELETE', `/pools/${pool.id}`)).status).toBe(409);
});

const LIMITS = '/disk-limits/persistent-ssd';
const UNLIMITED = {
  ...{ total_iops: 0, read_iops: 0, write_iops: 0, iops_per_gib: 0, burst_percent: 0 },
  ...{ total_bytes_per_second: 0, read_bytes_per_second: 0, write_bytes_per_second: 0 },
  ...{ bytes_per_second_per_gib: 0, burst_seconds: 0 },
};
const numberOf = async (hostId: string): Promise<number> =>
  Number(
    (await api.sql`select number from host_revisions where host_id = ${hostId}`)[0]?.['number'],
  );

it('disks have no limits until an operator sets them, and a PUT replaces all of them', async () => {
  const before = await call('GET', LIMITS);
  expect(before.body).toMatchObject({ disk_type: 'persistent-ssd', ...UNLIMITED });
  const wanted = { read_iops: 500, write_bytes_per_second: 10 ** 12, burst_percent: 150 };
  const set = await call('PUT', LIMITS, wanted);
  expect([set.status, set.body]).toMatchObject([
    200,
    { ...UNLIMITED, ...wanted, burst_seconds: 1, disk_type: 'persistent-ssd' },
  ]);
  expect((await call('GET', '/disk-limits')).body.items).toEqual([set.body]);
  const other = await call('PUT', LIMITS, { total_iops: 100, iops_per_gib: 3 });
  expect(other.body).toMatchObject({ ...UNLIMITED, total_iops: 100, iops_per_gib: 3 });
  await call('PUT', LIMITS, {});
  expect((await call('GET', LIMITS)).body).toMatchObject(UNLIMITED);
});

it('every host gets a new spec when limits change, and none when they stay the same', async () => {
  const hosts = [await addHost(api.sql), await addHost(api.sql)];
  const numbers = () => Promise.all(hosts.map(({ id }) => numberOf(id)));
  const before = await numbers();
  await call('PUT', LIMITS, { total_iops: 100 });
  const after = await numbers();
  expect(after.map((number, index) => number > (before[index] ?? 0))).toEqual([true, true]);
  await call('PUT', LIMITS, { total_iops: 100 });
  expect(await numbers()).toEqual(after);
  await call('PUT', LIMITS, {});
});

it.each([
  ['total_iops', { total_iops: -1 }],
  ['total_iops', { total_iops: 10_000_001 }],
  ['total_iops', { total_iops: 1.5 }],
  ['read_iops', { total_iops: 1, read_iops: 1 }],
  ['write_bytes_per_second', { bytes_per_second_per_gib: 1, write_bytes_per_second: 1 }],
  ['burst_percent', { total_iops: 1, burst_percent: 100 }],
  ['burst_percent', { burst_percent: 200 }],
  ['burst_seconds', { total_iops: 1, burst_seconds: 2 }],
  ['iops', { iops: 1 }],
])('limits with an unusable %s are refused and change nothing', async (field, wrong) => {
  const before = await call('GET', LIMITS);
  const refused = await call('PUT', LIMITS, wrong);
  expect([refused.status, refused.body.details?.[0]?.field]).toEqual([400, field]);
  expect((await call('GET', LIMITS)).body).toEqual(before.body);
});

it('a shared volume has no limits', async () => {
  const refused = await call('PUT', '/disk-limits/shared-volume', { total_iops: 1 });
  expect(refused.status).toBe(404);
});
