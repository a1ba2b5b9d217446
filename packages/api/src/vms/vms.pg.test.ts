import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { makeTenant, SSH_PUBLIC_KEY, type TestTenant } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let api: TestApi;
let tenant: TestTenant;
let vms: string;
let serial = 0;
const body = (name: string) => ({
  name,
  type: 'a40.1x',
  location: 'eu-north-a',
  image: 'debian-12',
  ssh_public_key: SSH_PUBLIC_KEY,
});

beforeAll(async () => {
  api = await startTestApi();
  tenant = await makeTenant(api, 'acme');
  vms = `/projects/${tenant.projectId}/vms`;
});
afterAll(() => api.stop());

const call = (method: string, path: string, value?: unknown, headers = {}) =>
  api.call(method, path, { bearer: tenant.accessKey, body: value, headers });

async function createVm(overrides = {}): Promise<string> {
  serial += 1;
  const { body: reply } = await call('POST', vms, { ...body(`vm-${serial}`), ...overrides });
  return reply.operation.metadata.id;
}

/** Does the scheduler's part: sets the observed state and ends the operation. */
async function observe(vmId: string, state: string): Promise<void> {
  await api.sql`update vms set observed_state = ${state}, observed_generation = generation where id = ${vmId}`;
  await api.sql`update operations set state = 'SUCCEEDED', result = '{}', completed_at = now()
    where resource_id = ${vmId} and state = 'IN_PROGRESS'`;
}

const stateOf = async (vmId: string) => (await call('GET', `${vms}/${vmId}`)).body.state;
const countOf = async (table: string) =>
  Number((await api.sql`select count(*) from ${api.sql(table)}`)[0]?.['count']);

describe('creating a VM', () => {
  it('replies with an unfinished operation that names the VM, and the VM can be read at once', async () => {
    const { status, body: reply } = await call('POST', vms, body('first'));
    expect(status).toBe(200);
    expect(reply.operation).toMatchObject({
      state: 'IN_PROGRESS',
      metadata: { operation_name: 'CREATE', type: 'vm', request: body('first') },
      result: null,
      completed_at: '',
    });
    const vm = await call('GET', `${vms}/${reply.operation.metadata.id}`);
    expect(vm.body).toMatchObject({
      name: 'first',
      state: 'STATE_CREATING',
      project_id: tenant.projectId,
    });
    expect(vm.body.disks).toMatchObject([
      { attachment_type: 'os', mode: 'read-write', size: '128GiB', block_size: 0 },
    ]);
    expect(vm.body.network_interfaces).toHaveLength(1);
    const operation = await call('GET', `${vms}/operations/${reply.operation.operation_id}`);
    expect(operation.body).toEqual(reply.operation);
  });

  it.each([
    ['unknown_type', { type: 'h100.1x' }],
    ['unknown_location', { location: 'mars-a' }],
    ['unknown_image', { image: 'plan9' }],
  ])('is refused as %s and writes nothing', async (code, overrides) => {
    const before = await Promise.all(
      ['vms', 'disks', 'operations', 'network_interfaces'].map(countOf),
    );
    const reply = await call('POST', vms, { ...body('refused'), ...overrides });
    expect([reply.status, reply.body.code]).toEqual([422, code]);
    expect(
      await Promise.all(['vms', 'disks', 'operations', 'network_interfaces'].map(countOf)),
    ).toEqual(before);
  });

  it('is refused as type_not_in_location if the type exists but is not offered there', async () => {
    await api.sql`delete from vm_type_locations where vm_type = 'a40.8x' and location = 'us-east-a'`;
    const reply = await call('POST', vms, {
      ...body('elsewhere'),
      type: 'a40.8x',
      location: 'us-east-a',
    });
    expect([reply.status, reply.body.code]).toEqual([422, 'type_not_in_location']);
  });

  it('accepts a name once, even in ten concurrent requests', async () => {
    const replies = await Promise.all(
      Array.from({ length: 10 }, () => call('POST', vms, body('contested'))),
    );
    const statuses = replies.map(({ status }) => status).toSorted();
    expect(statuses).toEqual([200, ...Array(9).fill(409)]);
    expect(replies.find(({ status }) => status === 409)?.body.code).toBe('name_taken');
  });

  it('names every field that does not fit', async () => {
    const reply = await call('POST', vms, {
      ...body('Not A Name'),
      ssh_public_key: 'nope',
      startup_script: 'echo',
      x: 1,
    });
    expect(reply.status).toBe(400);
    const fields = reply.body.details.map(({ field }: { field: string }) => field).toSorted();
    expect(fields).toEqual(['name', 'ssh_public_key', 'startup_script', 'x']);
  });
});

describe('power', () => {
  it.each([
    ['STOP', 'running', 'STATE_STOPPING', 'stopped', 'STATE_SHUTOFF'],
    ['START', 'stopped', 'STATE_STARTING', 'running', 'STATE_RUNNING'],
    ['RESET', 'running', 'STATE_RESETTING', 'running', 'STATE_RUNNING'],
    ['START', 'crashed', 'STATE_STARTING', 'running', 'STATE_RUNNING'],
    ['START', 'failed', 'STATE_STARTING', 'failed', 'STATE_ERROR'],
  ])(
    '%s of a %s VM shows %s, and %s observed shows %s',
    async (action, from, during, observed, after) => {
      const vmId = await createVm();
      await observe(vmId, from);
      const reply = await call('PATCH', `${vms}/${vmId}`, { action });
      expect(reply.body.operation).toMatchObject({
        state: 'IN_PROGRESS',
        metadata: { operation_name: action, id: vmId },
      });
      expect(await stateOf(vmId)).toBe(during);
      await observe(vmId, observed);
      expect(await stateOf(vmId)).toBe(after);
    },
  );

  it.each([
    ['START', 'running'],
    ['STOP', 'stopped'],
    ['RESET', 'stopped'],
  ])('%s of a %s VM is a conflict that names the required state', async (action, observed) => {
    const vmId = await createVm();
    await observe(vmId, observed);
    const reply = await call('PATCH', `${vms}/${vmId}`, { action });
    expect([reply.status, reply.body.code]).toEqual([409, 'conflict']);
    expect(reply.body.message).toMatch(/STATE_/);
  });

  it('refuses a second write as operation_in_progress while one is unfinished', async () => {
    const vmId = await createVm();
    const reply = await call('PATCH', `${vms}/${vmId}`, { action: 'STOP' });
    expect([reply.status, reply.body.code]).toEqual([409, 'operation_in_progress']);
  });

  it('starts one operation for concurrent requests', async () => {
    const vmId = await createVm();
    await observe(vmId, 'running');
    const replies = await Promise.all(
      Array.from({ length: 8 }, () => call('PATCH', `${vms}/${vmId}`, { action: 'STOP' })),
    );
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, ...Array(7).fill(409)]);
  });
});

describe('updating a VM', () => {
  it('changes the name at once, in any state', async () => {
    const vmId = await createVm();
    await observe(vmId, 'running');
    const { body: reply } = await call('PATCH', `${vms}/${vmId}`, {
      action: 'UPDATE',
      name: 'renamed',
    });
    expect(reply.operation).toMatchObject({
      state: 'SUCCEEDED',
      result: { id: vmId, name: 'renamed' },
    });
    expect((await call('GET', `${vms}/${vmId}`)).body.name).toBe('renamed');
  });

  it('changes the type of a stopped VM only', async () => {
    const vmId = await createVm();
    await observe(vmId, 'running');
    const change = { action: 'UPDATE', type: 'a40.2x' };
    expect((await call('PATCH', `${vms}/${vmId}`, change)).body.code).toBe('conflict');
    await observe(vmId, 'stopped');
    await api.sql`update vms set desired_state = 'stopped', power_action = 'STOP' where id = ${vmId}`;
    expect((await call('PATCH', `${vms}/${vmId}`, change)).status).toBe(200);
    expect((await call('GET', `${vms}/${vmId}`)).body.type).toBe('a40.2x');
  });

  it('counts the GPUs of the new type', async () => {
    const used = async () => {
      const { body: reply } = await call('GET', `/projects/${tenant.projectId}/quotas`);
      return reply.quotas.find(({ type }: { type: string }) => type === 'gpus').used;
    };
    const vmId = await createVm();
    const before = await used();
    await observe(vmId, 'stopped');
    await call('PATCH', `${vms}/${vmId}`, { action: 'UPDATE', type: 'a40.4x' });
    expect(await used()).toBe(before + 3);
  });
});

describe('deleting a VM', () => {
  it('cancels the unfinished operation and starts its own', async () => {
    const vmId = await createVm();
    const reply = await call('DELETE', `${vms}/${vmId}`);
    expect(reply.body.operation).toMatchObject({
      state: 'IN_PROGRESS',
      metadata: { operation_name: 'DELETE' },
    });
    expect(await stateOf(vmId)).toBe('STATE_DELETING');
    const { body: list } = await call('GET', `${vms}/operations?resource_id=${vmId}`);
    expect(list.items).toMatchObject([
      { state: 'IN_PROGRESS', metadata: { operation_name: 'DELETE' } },
      { state: 'FAILED', metadata: { operation_name: 'CREATE' }, result: { code: 'cancelled' } },
    ]);
  });

  it('is refused while another deletion is unfinished', async () => {
    const vmId = await createVm();
    await call('DELETE', `${vms}/${vmId}`);
    const again = await call('DELETE', `${vms}/${vmId}`);
    expect([again.status, again.body.code]).toEqual([409, 'operation_in_progress']);
  });
});

describe('listing VMs', () => {
  it.each([
    ['in order of creation', 'created_at', (ids: string[]) => ids],
    ['newest first', '-created_at', (ids: string[]) => ids.toReversed()],
  ])('returns every VM once in pages, %s', async (_, sort, inOrder) => {
    const before = (await call('GET', `${vms}?limit=1000`)).body.items.map(
      ({ id }: { id: string }) => id,
    );
    const seen: string[] = [];
    let token = '';
    do {
      const query = `sort=${sort}&limit=3${token && `&page_token=${token}`}`;
      const { body: reply } = await call('GET', `${vms}?${query}`);
      expect(reply.items.length).toBeLessThanOrEqual(3);
      seen.push(...reply.items.map(({ id }: { id: string }) => id));
      token = reply.next_page_token;
    } while (token);
    expect(seen).toEqual(inOrder(before));
  });

  it('combines filters by ids, names, types, locations and states', async () => {
    const vmId = await createVm({ name: 'findme', location: 'us-east-a', type: 'l40s-48gb.1x' });
    const ids = async (query: string) =>
      (await call('GET', `${vms}?${query}`)).body.items.map(({ id }: { id: string }) => id);
    expect(await ids(`ids=${vmId}`)).toEqual([vmId]);
    expect(await ids('names=findme,other')).toEqual([vmId]);
    expect(await ids('types=l40s-48gb.1x&locations=us-east-a&states=STATE_CREATING')).toEqual([
      vmId,
    ]);
    expect(await ids(`ids=${vmId}&states=STATE_RUNNING`)).toEqual([]);
  });

  it.each([
    'sort=state',
    'limit=0',
    'limit=1001',
    'limit=x',
    'page_token=x',
    'states=RUNNING',
    'ids=x',
    'unknown=1',
  ])('refuses ?%s and names the parameter', async (query) => {
    const reply = await call('GET', `${vms}?${query}`);
    expect(reply.status).toBe(400);
    expect(reply.body.details[0].field).toContain(query.split('=')[0]);
  });
});
