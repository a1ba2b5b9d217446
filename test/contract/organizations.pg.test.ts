import { buildApp } from '@gantry/api/app';
import { makeTenant } from '@gantry/testkit/make/tenants';
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

describe('docs/contract/tenancy.md#organization', () => {
  it('has the documented fields and no others', () =>
    expect(membersOf(organization)).toEqual(['id', 'name', 'payment_customer_id']));
  it('id is a UUID', () => {
    expect(organization['id']).toMatch(UUID);
    expect(organization['id']).toBe(world.tenant.organizationId);
  });
  it('name is a string', () => expect(organization['name']).toBe('acme'));
  it('payment_customer_id identifies the organization at the payment provider', async () => {
    // The id exists at the payment provider from the beginning.
    const created = (await world.owner.post('/organizations', { name: 'Second' })).body;
    const { billing } = world.api.deps;
    expect(created.payment_customer_id).toBe(billing.customerIdFor(created.id));
    expect(organization['payment_customer_id']).toMatch(/./);
  });
});

describe('docs/contract/tenancy.md#project', () => {
  it('has the documented fields and no others', () =>
    expect(membersOf(project)).toEqual(['id', 'name', 'organization_id', 'version']));
  it('id is a UUID', () => {
    expect(project['id']).toMatch(UUID);
    expect(project['id']).toBe(world.tenant.projectId);
  });
  it('name is a string', () => expect(project['name']).toBe('main'));
  it('version is of the form v<major>.<minor>', () => {
    expect(project['version']).toMatch(/^v\d+\.\d+$/);
    expect(project['version']).toBe('v0.1');
  });
  it('organization_id is the owning organization', () =>
    expect(project['organization_id']).toBe(organization['id']));
});

describe('docs/contract/usage.md#payment-method', () => {
  it('url is a temporary link to the billing dashboard', async () => {
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

describe('docs/contract/tenancy.md: endpoints', () => {
  it('organizations are listed as an array', async () => {
    const { status, body } = await world.get('/organizations');
    expect({ status, body }).toEqual({ status: 200, body: [organization] });
  });
  it('projects are listed as an array', async () => {
    const { status, body } = await world.get('/projects');
    expect({ status, body }).toEqual({ status: 200, body: [project] });
  });
  it('the billing link leads to the page where a payment method is entered', async () => {
    const tenant = await makeTenant(world.api, 'unpaid', { paid: false });
    const { get } = clientOf(world.api, tenant.accessKey);
    const specs = `/projects/${tenant.projectId}/specs`;
    expectRefusal(await get(specs), 402, 'payment_required');
    const link = `/organizations/${tenant.organizationId}/billing`;
    expectRefusal(await get(link), 403, 'forbidden');
    const { url } = (await clientOf(world.api, tenant.owner.token).get(link)).body;
    const entered = await buildApp(world.api.deps).request(new URL(url).pathname, {
      method: 'POST',
      body: new URLSearchParams({ holder: 'Unpaid Ltd', email: 'bills@unpaid.test' }),
    });
    expect(entered.status).toBe(200);
    expect((await get(specs)).status).toBe(200);
  });
  it('the root needs the Authorization header', async () => {
    expect((await world.get('')).status).toBe(200);
    expectRefusal(await world.api.call('GET', ''), 401, 'bad_credential');
  });
});
