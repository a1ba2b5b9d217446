import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import {
  makeAccessKey,
  makeTenant,
  makeUser,
  SSH_PUBLIC_KEY,
  type TestTenant,
  type TestUser,
} from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let api: TestApi;
let acme: TestTenant;
let other: TestTenant;
let operator: TestUser;

beforeAll(async () => {
  api = await startTestApi();
  acme = await makeTenant(api, 'acme');
  other = await makeTenant(api, 'other', { paid: false });
  operator = await makeUser(api, 'operator@gantry.test', { operator: true });
});
afterAll(() => api.stop());

const list = async (bearer: string) => (await api.call('GET', '/projects', { bearer })).body;
const create = (bearer: string, name: string, organizationId: string) =>
  api.call('POST', '/projects', { bearer, body: { name, organization_id: organizationId } });
const remove = (bearer: string, id: string) => api.call('DELETE', `/projects/${id}`, { bearer });

describe('listing projects', () => {
  it('shows each caller only its own projects, even without a payment method', async () => {
    const second = await create(acme.owner.token, 'second', acme.organizationId);
    const main = {
      id: acme.projectId,
      name: 'main',
      version: 'v0.1',
      organization_id: acme.organizationId,
    };
    expect(await list(acme.accessKey)).toEqual([main]);
    expect(await list(acme.member.token)).toEqual([main]);
    expect(await list(acme.owner.token)).toEqual([main, second.body]);
    expect(await list(other.owner.token)).toMatchObject([{ id: other.projectId }]);
    expect(await list(operator.token)).toEqual([]);
  });
});

describe('creating a project', () => {
  it('creates quotas, a network with a subnet in each location, and rules', async () => {
    const { status, body } = await create(other.owner.token, 'Fine Tuning', other.organizationId);
    expect(status).toBe(200);
    expect(body).toEqual({
      id: expect.any(String),
      name: 'Fine Tuning',
      version: 'v0.1',
      organization_id: other.organizationId,
    });
    const [made] = await api.sql`select
      (select count(*)::int from networks where project_id = ${body.id} and is_default) as networks,
      (select count(*)::int from subnets where project_id = ${body.id}) as subnets,
      (select count(*)::int from locations) as locations,
      (select count(*)::int from firewall_rules where project_id = ${body.id}) as rules`;
    expect(made).toEqual({ networks: 1, subnets: made?.['locations'], locations: 2, rules: 4 });
  });

  it('is allowed for owners and operators; members get 403, strangers 404', async () => {
    for (const bearer of [acme.member.token, acme.accessKey]) {
      expect((await create(bearer, 'x', acme.organizationId)).status).toBe(403);
    }
    expect((await create(other.owner.token, 'x', acme.organizationId)).status).toBe(404);
    expect((await create(other.accessKey, 'x', acme.organizationId)).status).toBe(404);
    expect((await create(operator.token, 'x', acme.projectId)).status).toBe(404);
    expect((await create(operator.token, 'by-operator', acme.organizationId)).status).toBe(200);
  });

  it('refuses a name that is taken in the organization, and accepts it in another', async () => {
    const taken = await create(acme.owner.token, 'main', acme.organizationId);
    expect(taken.status).toBe(409);
    expect(taken.body.code).toBe('name_taken');
    expect(await list(other.owner.token)).toContainEqual(expect.objectContaining({ name: 'main' }));
  });

  it('is in the audit log of the organization', async () => {
    const { body } = await create(acme.owner.token, 'audited', acme.organizationId);
    const lines = await api.sql`select * from audit_logs where resource_id = ${body.id}`;
    expect(lines).toMatchObject([
      { organization_id: acme.organizationId, action: 'projects.create', status: 200 },
    ]);
  });
});

describe('changing a project', () => {
  it('lets an owner rename it to a free name', async () => {
    const { body } = await create(acme.owner.token, 'rename-me', acme.organizationId);
    const rename = (bearer: string, name: string) =>
      api.call('PATCH', `/projects/${body.id}`, { bearer, body: { name } });
    expect((await rename(acme.owner.token, 'renamed')).body).toEqual({ ...body, name: 'renamed' });
    expect((await rename(acme.owner.token, 'main')).body.code).toBe('name_taken');
    expect((await rename(other.owner.token, 'stolen')).status).toBe(404);
  });

  it('is forbidden for members and keys', async () => {
    for (const bearer of [acme.member.token, acme.accessKey]) {
      expect((await remove(bearer, acme.projectId)).status).toBe(403);
    }
  });
});

describe('deleting a project', () => {
  it('is refused while it has a VM, and changes nothing', async () => {
    const vm = await api.call('POST', `/projects/${acme.projectId}/vms`, {
      bearer: acme.accessKey,
      body: {
        name: 'keeps-it',
        type: 'a40.1x',
        location: 'eu-north-a',
        image: 'debian-12',
        ssh_public_key: SSH_PUBLIC_KEY,
      },
    });
    expect(vm.status).toBe(200);
    const refused = await remove(acme.owner.token, acme.projectId);
    expect(refused.status).toBe(409);
    expect(refused.body.code).toBe('conflict');
    expect(await api.sql`select from networks where project_id = ${acme.projectId}`).toHaveLength(
      1,
    );
  });

  it('is refused while it has a data disk', async () => {
    const { body } = await create(acme.owner.token, 'with-disk', acme.organizationId);
    await api.sql`insert into disks (id, project_id, kind, name, type, size, size_gib, location, block_size, serial_number)
      values (gen_random_uuid(), ${body.id}, 'data', 'd', 'persistent-ssd', '1GiB', 1, 'eu-north-a', 512, 'serial-1')`;
    expect((await remove(acme.owner.token, body.id)).body.code).toBe('conflict');
  });

  it('removes everything in it, and its keys stop working at once', async () => {
    const { body } = await create(acme.owner.token, 'doomed', acme.organizationId);
    const accessKey = await makeAccessKey(api, body.id, 'member');
    await api.call('POST', `/organizations/${acme.organizationId}/members`, {
      bearer: acme.owner.token,
      body: { email: acme.member.email, role: 'member', project_id: body.id },
    });
    await api.sql`insert into operations
      (id, project_id, resource_type, resource_id, name, state, request, started_at, deadline_at)
      values (gen_random_uuid(), ${body.id}, 'vm', gen_random_uuid(), 'CREATE', 'IN_PROGRESS', '{}', now(), now())`;
    expect(await list(accessKey)).toHaveLength(1);

    const deleted = await remove(acme.owner.token, body.id);
    expect(deleted.status).toBe(200);
    expect(deleted.body).toEqual(body);
    for (const table of [
      ...['networks', 'subnets', 'firewall_rules', 'quotas', 'operations', 'access_keys'],
      ...['members', 'ssh_keys'],
    ]) {
      const left = await api.sql`select from ${api.sql(table)} where project_id = ${body.id}`;
      expect(left, table).toHaveLength(0);
    }
    expect((await api.call('GET', '/projects', { bearer: accessKey })).status).toBe(401);
    expect((await remove(acme.owner.token, body.id)).status).toBe(404);
  });
});
