import { newId } from '@gantry/model/ids';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { failOperation, finishVm } from '@gantry/testkit/make/finished';
import { addHost } from '@gantry/testkit/make/hosts';
import { placeVm } from '@gantry/testkit/make/placements';
import { diskBody, vmBody } from '@gantry/testkit/make/request-bodies';
import { makeTenant, makeUser, type TestTenant, type TestUser } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let api: TestApi;
let acme: TestTenant;
let globex: TestTenant;
let operator: TestUser;
let hostId: string;
/** Two VMs of one tenant and one of another, oldest first. */
let vms: { first: string; second: string; other: string };
let diskId: string;

const create = async (tenant: TestTenant, noun: string, body: object): Promise<string> => {
  const path = `/projects/${tenant.projectId}/${noun}`;
  const reply = await api.call('POST', path, { bearer: tenant.accessKey, body });
  return reply.body.operation.metadata.id;
};
const admin = (path: string) => api.call('GET', `/admin${path}`, { bearer: operator.token });
const found = async (path: string): Promise<string[]> =>
  (await admin(path)).body.items.map(({ id }: { id: string }) => id);
const resources = async (query: string): Promise<string[]> =>
  (await admin(`/operations${query}`)).body.items.map(
    ({ metadata }: { metadata: { id: string } }) => metadata.id,
  );

beforeAll(async () => {
  api = await startTestApi();
  [acme, globex] = await Promise.all([makeTenant(api, 'acme'), makeTenant(api, 'globex')]);
  operator = await makeUser(api, 'reader@gantry.test', {
    operator: true,
    operatorRole: 'read-only',
  });
  hostId = (await addHost(api.sql)).id;
  const first = await create(acme, 'vms', vmBody({ tags: { env: 'prod' } }));
  const second = await create(acme, 'vms', vmBody({ name: 'wanted' }));
  const other = await create(globex, 'vms', vmBody({ name: 'wanted' }));
  vms = { first, second, other };
  await placeVm(api.sql, { vmId: first, hostId, devices: 'one-of-each-kind' });
  await finishVm(api.sql, first, 'running');
  await failOperation(api.sql, other);
  diskId = await create(globex, 'disks', diskBody({ name: 'data' }));
  await api.sql`update disks set host_id = ${hostId} where id = ${diskId}`;
});
afterAll(() => api.stop());

describe('the list of the VMs of all tenants', () => {
  it('names the tenant and the host of each, oldest first', async () => {
    const { status, body } = await admin('/vms');
    expect(status).toBe(200);
    expect(body.items).toMatchObject([
      {
        ...{ id: vms.first, project_id: acme.projectId, organization_id: acme.organizationId },
        ...{ host_id: hostId, state: 'STATE_RUNNING', tags: { env: 'prod' } },
      },
      { id: vms.second, host_id: '' },
      { id: vms.other, project_id: globex.projectId, organization_id: globex.organizationId },
    ]);
  });

  it('is sorted with the newest first if the operator wants that, also in pages', async () => {
    const { first, second, other } = vms;
    expect(await found('/vms?sort=-created_at')).toEqual([other, second, first]);
    const page = (await admin('/vms?sort=-created_at&limit=2')).body;
    const rest = `/vms?sort=-created_at&page_token=${page.next_page_token}`;
    expect(await found(rest)).toEqual([first]);
  });

  it('is filtered by tenant, host, state, name and tag', async () => {
    const { first, second, other } = vms;
    expect(await found(`/vms?organization_id=${acme.organizationId}`)).toEqual([first, second]);
    expect(await found(`/vms?project_id=${globex.projectId}`)).toEqual([other]);
    const neither = `organization_id=${acme.organizationId}&project_id=${globex.projectId}`;
    expect(await found(`/vms?${neither}`)).toEqual([]);
    expect(await found(`/vms?organization_id=${newId()}`)).toEqual([]);
    expect(await found(`/vms?host_id=${hostId}`)).toEqual([first]);
    expect(await found('/vms?states=STATE_RUNNING,STATE_ERROR')).toEqual([first]);
    expect(await found('/vms?names=wanted')).toEqual([second, other]);
    expect(await found('/vms?tag=env:prod')).toEqual([first]);
    expect(await found('/vms?types=a40.2x')).toEqual([]);
  });

  it('has pages', async () => {
    const first = (await admin('/vms?limit=2')).body;
    expect(first.items).toHaveLength(2);
    expect(await found(`/vms?limit=2&page_token=${first.next_page_token}`)).toEqual([vms.other]);
  });

  it.each(['state=STATE_RUNNING', 'project_id=x', 'host_id=', 'states=READY'])(
    'refuses the query %s',
    async (query) => {
      expect((await admin(`/vms?${query}`)).body).toMatchObject({ code: 'bad_request' });
    },
  );
});

describe('the lists of all tenants', () => {
  it('has disks with their tenant and host', async () => {
    expect(await found(`/disks?project_id=${globex.projectId}&names=data`)).toEqual([diskId]);
    expect(await found(`/disks?host_id=${hostId}`)).toEqual([diskId]);
    expect(await found('/disks?states=ready')).toHaveLength(1);
    expect((await admin('/disks')).body.items).toHaveLength(4);
    expect((await admin(`/disks/${diskId}`)).body).toMatchObject({
      ...{ id: diskId, project_id: globex.projectId, organization_id: globex.organizationId },
      ...{ host_id: hostId, state: 'creating' },
    });
  });

  it('has operations with their tenant, newest first', async () => {
    const { first, second, other } = vms;
    expect(await resources('')).toEqual([diskId, other, second, first]);
    expect(await resources('?state=FAILED')).toEqual([other]);
    expect(await resources('?state=IN_PROGRESS&resource_type=vm')).toEqual([second]);
    expect(await resources(`?organization_id=${acme.organizationId}`)).toEqual([second, first]);
    expect(await resources(`?resource_id=${first}`)).toEqual([first]);
    expect(await resources('?operation_name=DELETE')).toEqual([]);
    const page = (await admin('/operations?limit=1')).body;
    expect(await resources(`?limit=1&page_token=${page.next_page_token}`)).toEqual([other]);
    const { operation_id } = page.items[0];
    expect((await admin(`/operations/${operation_id}`)).body).toMatchObject({
      ...{ operation_id, project_id: globex.projectId, organization_id: globex.organizationId },
    });
  });

  it('has each resource by its id, and none that does not exist', async () => {
    expect((await admin(`/vms/${vms.other}`)).body).toMatchObject({ id: vms.other, host_id: '' });
    for (const noun of ['vms', 'disks', 'operations'])
      expect((await admin(`/${noun}/${newId()}`)).status).toBe(404);
  });

  it('is for operators alone', async () => {
    for (const noun of [
      'vms',
      'disks',
      'operations',
      'fleet',
      'fleet/summary',
      'capacity-history',
    ]) {
      const { status } = await api.call('GET', `/admin/${noun}`, { bearer: acme.owner.token });
      expect(status).toBe(403);
    }
  });
});
