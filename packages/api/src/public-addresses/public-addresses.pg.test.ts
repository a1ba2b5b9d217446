import type { Queryable } from '@gantry/db/connect';
import { newId } from '@gantry/model/ids';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { finishVm, finishVmDeletion } from '@gantry/testkit/make/finished';
import { LOCATION, newName, vmBody } from '@gantry/testkit/make/request-bodies';
import { makeTenant, makeUser, type TestTenant } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

let api: TestApi;
let tenant: TestTenant;
let stranger: TestTenant;
let operator: string;

beforeAll(async () => {
  api = await startTestApi();
  [tenant, stranger] = await Promise.all([makeTenant(api, 'acme'), makeTenant(api, 'other')]);
  operator = (await makeUser(api, 'operator@gantry.test', { operator: true })).token;
});
beforeEach(async () => {
  await api.sql`delete from reserved_addresses`;
  await api.sql`delete from public_addresses`;
});
afterAll(() => api.stop());

const call = (method: string, path: string, body?: unknown, owner = tenant) =>
  api.call(method, `/projects/${owner.projectId}${path}`, { bearer: owner.accessKey, body });
const A = '/vpc/public-addresses';

async function addToPool(...addresses: string[]): Promise<void> {
  for (const address of addresses) {
    await api.sql`insert into public_addresses (id, location, address)
      values (${newId()}, ${LOCATION}, ${address})`;
  }
}

const reserve = (owner = tenant, location = LOCATION) =>
  call('POST', A, { name: newName(), location }, owner);
const reserved = async (owner = tenant): Promise<string> => (await reserve(owner)).body.id;

async function makeVm(state: 'running' | 'stopped' = 'stopped', fields = {}): Promise<string> {
  const { body } = await call('POST', '/vms', vmBody(fields));
  const vmId: string = body.operation.metadata.id;
  await finishVm(api.sql, vmId, state);
  return vmId;
}

const change = (verb: 'attach' | 'detach', vmId: string, addressId: string, owner = tenant) =>
  call('POST', `/vms/${vmId}/${verb}-public-address`, { address_id: addressId }, owner);
const publicOf = async (vmId: string) =>
  (await call('GET', `/vms/${vmId}`)).body.network_interfaces[0].ips[0].public_ipv4;
const vmOf = async (addressId: string) => (await call('GET', `${A}/${addressId}`)).body.vm_id;
const outcome = ({ status, body }: { status: number; body: { code?: string } }) =>
  [status, body.code ?? ''].join(' ').trim();

/** Gives a dynamic address to a new interface, as a placement does. Returns the address. */
async function giveDynamic(sql: Queryable): Promise<string | undefined> {
  const vmId = await makeVm();
  const [iface] = await api.sql`select id from network_interfaces where vm_id = ${vmId}`;
  await sql`select assign_public_addresses(${LOCATION}, ${[iface?.['id']]}::uuid[])`;
  const [row] = await sql`select host(address) as address from public_addresses
    where network_interface_id = ${iface?.['id']}`;
  return row?.['address'];
}

describe('a reserved public address', () => {
  it('is created, listed, read, renamed and released', async () => {
    await addToPool('203.0.113.1');
    const { status, body } = await call('POST', A, { name: 'front', location: LOCATION });
    expect(status).toBe(200);
    expect(body).toMatchObject({ name: 'front', address: '203.0.113.1', location: LOCATION });
    expect(body.vm_id).toBe('');
    expect((await call('GET', A)).body).toEqual({ items: [body], next_page_token: '' });
    expect((await call('GET', `${A}/${body.id}`)).body).toEqual(body);
    const renamed = await call('PATCH', `${A}/${body.id}`, { name: 'back' });
    expect(renamed.body).toEqual({ ...body, name: 'back' });
    expect((await call('DELETE', `${A}/${body.id}`)).body).toEqual(renamed.body);
    expect((await call('DELETE', `${A}/${body.id}`)).status).toBe(404);
  });

  it('has a name of its own in the project', async () => {
    await addToPool('203.0.113.1', '203.0.113.2', '203.0.113.3');
    const [first, second] = [(await reserve()).body, (await reserve()).body];
    const again = await call('POST', A, { name: first.name, location: LOCATION });
    expect(outcome(again)).toBe('409 name_taken');
    const renamed = await call('PATCH', `${A}/${second.id}`, { name: first.name });
    expect(outcome(renamed)).toBe('409 name_taken');
  });

  it('is refused if the location is unknown or has no free address', async () => {
    expect(outcome(await reserve(tenant, 'mars'))).toBe('422 unknown_location');
    expect(outcome(await reserve())).toBe('409 conflict');
  });

  it('rests after its release before another project gets it', async () => {
    await addToPool('203.0.113.1');
    await call('DELETE', `${A}/${await reserved()}`);
    expect(outcome(await reserve(stranger))).toBe('409 conflict');
    const again = await reserve();
    expect(again.body.address).toBe('203.0.113.1');
    await call('DELETE', `${A}/${again.body.id}`);
    await api.sql`update public_addresses set released_at = released_at - interval '15 minutes'`;
    expect((await reserve(stranger)).body.address).toBe('203.0.113.1');
  });

  it('is limited by the quota of the project, which a release gives back', async () => {
    await addToPool('203.0.113.1', '203.0.113.2');
    const max = (most: number) => api.sql`update quotas set max = ${most}
      where project_id = ${tenant.projectId} and type = 'public_addresses'`;
    await max(1);
    const id = await reserved();
    const { status, body } = await reserve();
    expect([status, body.code, body.details.type]).toEqual([
      422,
      'quota_exceeded',
      'public_addresses',
    ]);
    await call('DELETE', `${A}/${id}`);
    expect((await reserve()).status).toBe(200);
    await max(20);
  });

  it('is invisible to other projects, which cannot change, attach or release it', async () => {
    await addToPool('203.0.113.1');
    const id = await reserved();
    const vmId = (await call('POST', '/vms', vmBody(), stranger)).body.operation.metadata.id;
    await finishVm(api.sql, vmId, 'stopped');
    expect((await call('GET', A, undefined, stranger)).body.items).toEqual([]);
    const attempts = [
      await call('GET', `${A}/${id}`, undefined, stranger),
      await call('PATCH', `${A}/${id}`, { name: 'mine' }, stranger),
      await call('DELETE', `${A}/${id}`, undefined, stranger),
      await change('attach', vmId, id, stranger),
      await change('detach', vmId, id, stranger),
    ];
    expect(attempts.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
    const public_ipv4 = { type: 'reserved', id };
    const created = await call(
      'POST',
      '/vms',
      vmBody({ network_interfaces: [{ public_ipv4 }] }),
      stranger,
    );
    expect(created.body.details[0].field).toBe('network_interfaces.0.public_ipv4.id');
    expect(await vmOf(id)).toBe('');
  });

  it('is never given to a VM as a dynamic address, even if both happen at once', async () => {
    await addToPool('203.0.113.1');
    const id = await reserved();
    expect(await giveDynamic(api.sql)).toBeUndefined();
    await call('DELETE', `${A}/${id}`);
    await api.sql.begin(async (tx) => {
      const given = await giveDynamic(tx);
      expect(given).toBe('203.0.113.1');
      expect(outcome(await reserve())).toBe('409 conflict');
    });
  });

  it('cannot be removed from the pool, and operators see who has it', async () => {
    await addToPool('203.0.113.1');
    await reserve();
    const list = await api.call('GET', '/admin/public-addresses', { bearer: operator });
    expect(list.body.items).toMatchObject([{ project_id: tenant.projectId, vm_id: '' }]);
    const path = `/admin/public-addresses/${list.body.items[0].id}`;
    expect(outcome(await api.call('DELETE', path, { bearer: operator }))).toBe('409 conflict');
  });

  it('keeps its project from being deleted', async () => {
    await addToPool('203.0.113.1');
    const project = await api.call('POST', '/projects', {
      ...{ bearer: tenant.owner.token },
      body: { name: 'short-lived', organization_id: tenant.organizationId },
    });
    const path = `/projects/${project.body.id}`;
    const bearer = tenant.owner.token;
    const body = { name: 'kept', location: LOCATION };
    const address = await api.call('POST', `${path}${A}`, { bearer, body });
    expect(outcome(await api.call('DELETE', path, { bearer }))).toBe('409 conflict');
    await api.call('DELETE', `${path}${A}/${address.body.id}`, { bearer });
    expect((await api.call('DELETE', path, { bearer })).status).toBe(200);
  });
});

describe('attaching a reserved public address', () => {
  it('shows it on the stopped VM at once, and detaching removes it', async () => {
    await addToPool('203.0.113.1');
    const [id, vmId] = [await reserved(), await makeVm()];
    const { operation } = (await change('attach', vmId, id)).body;
    expect(operation).toMatchObject({ state: 'SUCCEEDED', metadata: { operation_name: 'UPDATE' } });
    expect(operation.result.ssh_destination).toBe('203.0.113.1');
    expect(await publicOf(vmId)).toEqual({ address: '203.0.113.1', id, type: 'reserved' });
    expect(await vmOf(id)).toBe(vmId);
    expect(outcome(await call('DELETE', `${A}/${id}`))).toBe('409 conflict');
    expect((await change('detach', vmId, id)).status).toBe(200);
    expect(await publicOf(vmId)).toEqual({ address: '', id: '', type: '' });
    expect(outcome(await change('detach', vmId, id))).toBe('409 conflict');
  });

  it('is refused while the VM runs or a host still has its parts', async () => {
    await addToPool('203.0.113.1');
    const [id, vmId] = [await reserved(), await makeVm('running')];
    expect(outcome(await change('attach', vmId, id))).toBe('409 conflict');
    await finishVm(api.sql, vmId, 'crashed');
    await api.sql`update vms set placed = true where id = ${vmId}`;
    expect(outcome(await change('attach', vmId, id))).toBe('409 conflict');
    await api.sql`update vms set placed = false where id = ${vmId}`;
    expect((await change('attach', vmId, id)).status).toBe(200);
  });

  it('is refused if another VM has it, the VM has one, or it is in another location', async () => {
    await addToPool('203.0.113.1', '203.0.113.2');
    const [first, second] = [await reserved(), await reserved()];
    const [vmId, other] = [await makeVm(), await makeVm()];
    await change('attach', vmId, first);
    expect(outcome(await change('attach', other, first))).toBe('409 conflict');
    expect(outcome(await change('attach', vmId, second))).toBe('409 conflict');
    expect(outcome(await change('detach', other, first))).toBe('409 conflict');
    await api.sql`update public_addresses set location = 'us-east-a' where address = '203.0.113.2'`;
    expect(outcome(await change('attach', other, second))).toBe('409 conflict');
    expect(await vmOf(first)).toBe(vmId);
  });

  it('ends when the VM is deleted, and the project keeps the address', async () => {
    await addToPool('203.0.113.1');
    const [id, vmId] = [await reserved(), await makeVm()];
    await change('attach', vmId, id);
    await call('DELETE', `/vms/${vmId}`);
    expect(outcome(await call('DELETE', `${A}/${id}`))).toBe('409 conflict');
    await finishVmDeletion(api.sql, vmId);
    expect(await vmOf(id)).toBe('');
    const again = await makeVm();
    expect((await change('attach', again, id)).status).toBe(200);
  });

  it('succeeds for one of several VMs that ask at the same time', async () => {
    await addToPool('203.0.113.1');
    const id = await reserved();
    const vmIds = [await makeVm(), await makeVm(), await makeVm()];
    const replies = await Promise.all(vmIds.map((vmId) => change('attach', vmId, id)));
    expect(replies.map(outcome).sort()).toEqual(['200', '409 conflict', '409 conflict']);
    const winner = vmIds[replies.findIndex(({ status }) => status === 200)];
    expect(await vmOf(id)).toBe(winner);
  });

  it('excludes a release at the same time', async () => {
    for (let round = 0; round < 5; round += 1) {
      await addToPool(`203.0.113.${round}`);
      const [id, vmId] = [await reserved(), await makeVm()];
      const [attached, released] = await Promise.all([
        change('attach', vmId, id),
        call('DELETE', `${A}/${id}`),
      ]);
      const ends = `${outcome(attached)} and ${outcome(released)}`;
      expect(['200 and 409 conflict', '404 not_found and 200']).toContain(ends);
      const isAttached = (await publicOf(vmId)).type === 'reserved';
      expect(isAttached).toBe(attached.status === 200);
    }
  });
});

describe('a new VM with a reserved public address', () => {
  const create = (id: string, fields = {}) =>
    call(
      'POST',
      '/vms',
      vmBody({ network_interfaces: [{ public_ipv4: { type: 'reserved', id } }], ...fields }),
    );

  it('has it from the beginning, and has none after it was detached', async () => {
    await addToPool('203.0.113.1');
    const id = await reserved();
    const reply = await create(id);
    const vmId = reply.body.operation.metadata.id;
    expect(await publicOf(vmId)).toEqual({ address: '203.0.113.1', id, type: 'reserved' });
    await finishVm(api.sql, vmId, 'stopped');
    await change('detach', vmId, id);
    expect(await publicOf(vmId)).toEqual({ address: '', id: '', type: 'none' });
  });

  it('is refused if another VM has the address or the location differs, and nothing is written', async () => {
    await addToPool('203.0.113.1');
    const id = await reserved();
    const wrongPlace = await create(id, { location: 'us-east-a' });
    expect(wrongPlace.body.details?.[0].field).toBe('network_interfaces.0.public_ipv4.id');
    await create(id);
    const [before] = await api.sql`select count(*) from vms`;
    expect(outcome(await create(id))).toBe('409 conflict');
    const [after] = await api.sql`select count(*) from vms`;
    expect(after).toEqual(before);
  });

  it('is created once if several requests name the address at the same time', async () => {
    await addToPool('203.0.113.1');
    const id = await reserved();
    const replies = await Promise.all([create(id), create(id), create(id)]);
    expect(replies.map(outcome).sort()).toEqual(['200', '409 conflict', '409 conflict']);
  });
});
