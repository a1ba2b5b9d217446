import { buildApp } from '@gantry/api/app';
import { makeTenant } from '@gantry/api/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  clientOf,
  expectRefusal,
  type Fields,
  membersOf,
  startWorld,
  UUID,
  type World,
} from './support.ts';

let world: World;
let organization: Fields;
let project: Fields;

beforeAll(async () => {
  world = await startWorld();
  [organization] = (await world.get('/organizations')).body;
  [project] = (await world.get('/projects')).body;
});
afterAll(() => world.api.stop());

describe('Organization', () => {
  it('has the fields of the table and no others', () =>
    expect(membersOf(organization)).toEqual(['id', 'name', 'payment_customer_id']));
  it('| id | string (uuid) | |', () => {
    expect(organization['id']).toMatch(UUID);
    expect(organization['id']).toBe(world.tenant.organizationId);
  });
  it('| name | string | |', () => expect(organization['name']).toBe('acme'));
  it('| payment_customer_id | string | identifier of the organization at the external payment provider |', async () => {
    // Provider and organization agree on it from the first moment on.
    const created = (await world.owner.post('/organizations', { name: 'Second' })).body;
    const { billing } = world.api.deps;
    expect(created.payment_customer_id).toBe(billing.customerIdFor(created.id));
    expect(organization['payment_customer_id']).toMatch(/./);
  });
});

describe('Project', () => {
  it('has the fields of the table and no others', () =>
    expect(membersOf(project)).toEqual(['id', 'name', 'organization_id', 'version']));
  it('| id | string (uuid) | |', () => {
    expect(project['id']).toMatch(UUID);
    expect(project['id']).toBe(world.tenant.projectId);
  });
  it('| name | string | |', () => expect(project['name']).toBe('main'));
  it('| version | string | API version of the project, of the form v<major>.<minor> |', () => {
    expect(project['version']).toMatch(/^v\d+\.\d+$/);
    expect(project['version']).toBe('v0.1');
  });
  it('| organization_id | string (uuid) | owning organization |', () =>
    expect(project['organization_id']).toBe(organization['id']));
});

describe('Billing session', () => {
  it('| url | string (URL) | temporary link to the billing dashboard |', async () => {
    const { status, body } = await world.owner.get(`${world.O}/billing`);
    expect(status).toBe(200);
    expect(membersOf(body)).toEqual(['url']);
    const open = () => buildApp(world.api.deps).request(new URL(body.url).pathname);
    expect((await open()).status).toBe(200);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 24 * 3_600_000 });
    try {
      expect((await open()).status).toBe(403);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('Endpoints', () => {
  it('GET /v0.1/organizations. Response: array of Organization.', async () => {
    const { status, body } = await world.get('/organizations');
    expect({ status, body }).toEqual({ status: 200, body: [organization] });
  });
  it('GET /v0.1/projects. Response: array of Project.', async () => {
    const { status, body } = await world.get('/projects');
    expect({ status, body }).toEqual({ status: 200, body: [project] });
  });
  it('GET /v0.1/organizations/{organization_id}/billing. Response: Billing session object. A payment method must be entered through the link before the other API operations are used.', async () => {
    const tenant = await makeTenant(world.api, 'unpaid', { paid: false });
    const { get } = clientOf(world.api, tenant.accessKey);
    const specs = `/projects/${tenant.projectId}/specs`;
    expectRefusal(await get(specs), 402, 'payment_required');
    const { url } = (await get(`/organizations/${tenant.organizationId}/billing`)).body;
    const entered = await buildApp(world.api.deps).request(new URL(url).pathname, {
      method: 'POST',
      body: new URLSearchParams({ holder: 'Unpaid Ltd', email: 'bills@unpaid.test' }),
    });
    expect(entered.status).toBe(200);
    expect((await get(specs)).status).toBe(200);
  });
  it('GET /v0.1 with the Authorization header. Response: not shown.', async () => {
    expect((await world.get('')).status).toBe(200);
    expectRefusal(await world.api.call('GET', ''), 401, 'bad_credential');
  });
});
