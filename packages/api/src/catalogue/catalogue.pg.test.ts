import { insertProject } from '@gantry/db/queries/tenants/tenants';
import { newId } from '@gantry/model/ids';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import {
  makeTenant,
  makeUser,
  SSH_PUBLIC_KEY,
  type TestTenant,
  type TestUser,
} from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

let api: TestApi;
let acme: TestTenant;
let operator: TestUser;

beforeAll(async () => {
  api = await startTestApi();
  acme = await makeTenant(api, 'acme');
  operator = await makeUser(api, 'operator@gantry.test', { operator: true });
});
afterAll(() => api.stop());

const admin = (method: string, path: string, body?: unknown) =>
  api.call(method, `/admin/${path}`, {
    bearer: operator.token,
    ...(body === undefined ? {} : { body }),
  });
const createVm = (vm: Record<string, string>) =>
  api.call('POST', `/projects/${acme.projectId}/vms`, {
    bearer: acme.accessKey,
    body: {
      type: 'a40.1x',
      location: 'eu-north-a',
      image: 'debian-12',
      ssh_public_key: SSH_PUBLIC_KEY,
      ...vm,
    },
  });

describe('locations', () => {
  const location = { name: 'ap-south-b', region: 'ap-south', zone: 'b', description: 'Mumbai' };

  it('are added with a subnet in every default network that overlaps no other', async () => {
    const { status, body } = await admin('POST', 'locations', location);
    expect(status).toBe(200);
    expect(body).toEqual(location);
    expect((await admin('GET', 'locations')).body.items).toContainEqual(location);
    const subnets = await api.sql`select s.location, s.cidr from subnets s
      join networks n on n.id = s.network_id where n.project_id = ${acme.projectId} and n.is_default`;
    expect(subnets).toHaveLength(3);
    expect(new Set(subnets.map(({ cidr }) => cidr)).size).toBe(3);
    expect(subnets.map((row) => row['location'])).toContain('ap-south-b');
  });

  it('are added even if a project has no room for another subnet', async () => {
    const crowded = await makeTenant(api, 'crowded');
    await api.sql`update quotas set max = used where project_id = ${crowded.projectId} and type = 'subnets'`;
    const { status } = await admin('POST', 'locations', {
      name: 'sa-east-a',
      region: 'sa-east',
      zone: 'a',
    });
    expect(status).toBe(200);
    const there = await api.sql`select project_id from subnets where location = 'sa-east-a'`;
    expect(there.map((row) => row['project_id'])).toEqual([acme.projectId]);
  });

  it('are in projects that are created at the same time', async () => {
    const name = 'eu-west-c';
    const projectId = newId();
    const { adding } = await api.sql.begin(async (tx) => {
      await insertProject(tx, {
        id: projectId,
        name: 'racer',
        organization_id: acme.organizationId,
      });
      const started = admin('POST', 'locations', { name, region: 'eu-west', zone: 'c' });
      await vi.waitFor(
        async () => {
          const waiting = await api.sql`select from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock'`;
          expect(waiting).toHaveLength(1);
        },
        { timeout: 30_000 },
      );
      return { adding: started };
    });
    expect((await adding).status).toBe(200);
    const there = await api.sql`select from subnets
      where project_id = ${projectId} and location = ${name}`;
    expect(there).toHaveLength(1);
  });

  it('have the name of their region and zone, which is unique', async () => {
    const wrong = await admin('POST', 'locations', { ...location, name: 'ap-south-c' });
    expect(wrong.status).toBe(400);
    expect(wrong.body.details).toMatchObject([{ field: 'name' }]);
    expect((await admin('POST', 'locations', location)).body.code).toBe('name_taken');
  });

  it('can get a new description', async () => {
    const { body } = await admin('PATCH', 'locations/ap-south-b', { description: '' });
    expect(body).toEqual({ ...location, description: '' });
    expect((await admin('PATCH', 'locations/mars', { description: 'x' })).status).toBe(404);
  });
});

describe('VM types', () => {
  const type = {
    name: 'h200-141gb.1x',
    description: '1 x H200',
    cpu_cores: 16,
    cpu_type: 'x86-64',
    memory_gb: 200,
    memory_type: 'ECC',
    disk_gb: 3840,
    disk_type: 'NVMe',
    disk_count: 1,
    gpu_count: 1,
    gpu_type: 'H200 141GB SXM',
    network_gbps: 100,
    locations: ['eu-north-a'],
  };

  it('can be added, and VMs of them can be created in their locations', async () => {
    const { status, body } = await admin('POST', 'vm-types', type);
    expect(status).toBe(200);
    expect(body).toEqual({
      ...type,
      nested_virtualization: false,
      may_split: false,
      retired: false,
    });
    expect((await admin('GET', 'vm-types')).body.items).toContainEqual(body);
    expect((await createVm({ name: 'h200', type: type.name })).status).toBe(200);
    const elsewhere = await createVm({ name: 'h', type: type.name, location: 'us-east-a' });
    expect(elsewhere.body.code).toBe('type_not_in_location');
  });

  it('can change their locations and be retired', async () => {
    const moved = await admin('PATCH', `vm-types/${type.name}`, {
      locations: ['us-east-a'],
      description: 'elsewhere',
      may_split: true,
    });
    expect(moved.body).toEqual({
      ...type,
      description: 'elsewhere',
      locations: ['us-east-a'],
      nested_virtualization: false,
      may_split: true,
      retired: false,
    });
    expect((await createVm({ name: 'late', type: type.name })).body.code).toBe(
      'type_not_in_location',
    );
    await admin('PATCH', `vm-types/${type.name}`, { retired: true });
    const retired = await createVm({ name: 'late', type: type.name, location: 'us-east-a' });
    expect(retired.body.code).toBe('unknown_type');
    expect((await admin('GET', 'vm-types')).body.items).toContainEqual(
      expect.objectContaining({ name: type.name, retired: true }),
    );
  });

  it('say whether guests can run VMs, which the VMs of the type show and no change can alter', async () => {
    const nested = { ...type, name: 'nested.1x', nested_virtualization: true };
    expect((await admin('POST', 'vm-types', nested)).body).toMatchObject(nested);
    const read = async (name: string, ofType: string) => {
      const { body } = await createVm({ name, type: ofType });
      const path = `/projects/${acme.projectId}/vms/${body.operation.metadata.id}`;
      const vm = await api.call('GET', path, { bearer: acme.accessKey });
      return vm.body.virtualization_features;
    };
    expect(await read('nests', 'nested.1x')).toEqual({ nested_virtualization: true });
    expect(await read('plain', 'a40.1x')).toEqual({ nested_virtualization: false });
    const change = { nested_virtualization: false };
    expect((await admin('PATCH', 'vm-types/nested.1x', change)).status).toBe(400);
  });

  it('are refused with a reason', async () => {
    const nowhere = await admin('POST', 'vm-types', { ...type, name: 'x', locations: ['mars'] });
    expect(nowhere.status).toBe(422);
    expect(nowhere.body.code).toBe('unknown_location');
    const moved = await admin('PATCH', 'vm-types/a40.1x', { retired: true, locations: ['mars'] });
    expect(moved.body.code).toBe('unknown_location');
    expect((await createVm({ name: 'still-offered' })).status).toBe(200);
    expect((await admin('POST', 'vm-types', type)).body.code).toBe('name_taken');
    expect((await admin('PATCH', 'vm-types/none', { retired: true })).status).toBe(404);
    const empty = await admin('POST', 'vm-types', { ...type, name: 'y', cpu_cores: 0 });
    expect(empty.body.details).toMatchObject([{ field: 'cpu_cores' }]);
  });
});

describe('images', () => {
  const image = {
    name: 'rocky-9',
    description: 'Rocky Linux 9',
    tags: ['linux', 'rocky'],
    source_url: 'https://images.example.test/rocky.qcow2',
    sha256: 'a'.repeat(64),
    locations: ['eu-north-a'],
  };

  it('can be added and used, and cannot be used after they are retired', async () => {
    const { status, body } = await admin('POST', 'images', image);
    expect(status).toBe(200);
    expect(body).toEqual({
      ...image,
      retired: false,
      id: expect.any(String),
      created_at: expect.stringMatching(/Z$/),
    });
    expect((await createVm({ name: 'rocky', image: 'rocky-9' })).status).toBe(200);
    const changed = await admin('PATCH', `images/${body.id}`, {
      tags: [],
      retired: true,
      locations: ['us-east-a', 'us-east-a'],
    });
    expect(changed.body).toEqual({ ...body, tags: [], retired: true, locations: ['us-east-a'] });
    expect((await createVm({ name: 'late', image: 'rocky-9' })).body.code).toBe('unknown_image');
    expect((await admin('GET', 'images')).body.items).toContainEqual(changed.body);

    const used = await admin('DELETE', `images/${body.id}`);
    expect(used.status).toBe(409);
    expect(used.body.code).toBe('conflict');
  });

  it('can be deleted if no VM refers to them', async () => {
    const { body } = await admin('POST', 'images', { name: 'unused', locations: ['us-east-a'] });
    expect(body).toMatchObject({ source_url: '', sha256: '', description: '', tags: [] });
    expect((await admin('DELETE', `images/${body.id}`)).body).toEqual(body);
    expect((await admin('DELETE', `images/${body.id}`)).status).toBe(404);
    expect((await admin('PATCH', `images/${body.id}`, { retired: true })).status).toBe(404);
  });

  it.each([
    ['sha256', { sha256: undefined }],
    ['sha256', { sha256: 'A'.repeat(64) }],
    ['source_url', { source_url: undefined }],
    ['source_url', { source_url: 'ftp://images.example.test/rocky.qcow2' }],
    ['name', { name: 'Rocky 9' }],
    ['locations', { locations: undefined }],
  ])('are refused with an error that names the field: %s', async (field, wrong) => {
    const { status, body } = await admin('POST', 'images', { ...image, name: 'wrong', ...wrong });
    expect(status).toBe(400);
    expect(body.details).toMatchObject([{ field }]);
  });

  it('need existing locations and a free name', async () => {
    const nowhere = await admin('POST', 'images', { name: 'nowhere', locations: ['mars'] });
    expect(nowhere.body.code).toBe('unknown_location');
    const taken = await admin('POST', 'images', { name: 'debian-12', locations: [] });
    expect(taken.body.code).toBe('name_taken');
  });
});

describe('prices', () => {
  it('are stored exactly, and can be replaced and deleted', async () => {
    const set = (usd: number) => admin('PUT', 'prices/a40.1x', { usd_per_hour: usd });
    expect((await set(1.28)).body).toEqual({ resource_type: 'a40.1x', usd_per_hour: 1.28 });
    expect((await set(0.00000001)).status).toBe(200);
    const [row] =
      await api.sql`select usd_per_hour::text from prices where resource_type = 'a40.1x'`;
    expect(row?.['usd_per_hour']).toBe('0.00000001');
    expect((await admin('GET', 'prices')).body.items).toEqual([
      { resource_type: 'a40.1x', usd_per_hour: 0.00000001 },
      { resource_type: 'persistent-ssd', usd_per_hour: 0.00013 },
      { resource_type: 'shared-volume', usd_per_hour: 0.00013 },
    ]);
    expect((await admin('DELETE', 'prices/a40.1x')).body.usd_per_hour).toBe(0.00000001);
    expect((await admin('DELETE', 'prices/a40.1x')).status).toBe(404);
  });

  it.each([[-1], [0.000000001], [1e9], ['1'], [null]])('refuse %j', async (usd) => {
    const { status, body } = await admin('PUT', 'prices/a40.1x', { usd_per_hour: usd });
    expect(status).toBe(400);
    expect(body.details).toMatchObject([{ field: 'usd_per_hour' }]);
  });

  it('can only be set for existing types', async () => {
    const { status, body } = await admin('PUT', 'prices/a41.1x', { usd_per_hour: 1 });
    expect(status).toBe(422);
    expect(body.code).toBe('unknown_type');
  });
});
