import { badField, refusal } from '@gantry/testkit/api/read-errors';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { makeTenant, type TestTenant } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let api: TestApi;
let tenant: TestTenant;
let stranger: TestTenant;
const made = { networks: '', subnets: '' };

const call = (method: string, path: string, body?: unknown, owner = tenant) =>
  api.call(method, `/projects/${tenant.projectId}/vpc/${path}`, { bearer: owner.accessKey, body });

beforeAll(async () => {
  api = await startTestApi();
  [tenant, stranger] = await Promise.all([makeTenant(api, 'acme'), makeTenant(api, 'other')]);
  const network = (name: string, cidr: string) => call('POST', 'networks', { name, cidr });
  made.networks = (await network('first', '10.1.0.0/16')).body.id;
  await network('taken', '10.2.0.0/16');
  const subnet = (name: string, cidr: string) =>
    call('POST', 'subnets', {
      ...{ name, cidr, location: 'eu-north-a', vpc_network_id: made.networks },
    });
  made.subnets = (await subnet('first', '10.1.0.0/24')).body.id;
  await subnet('taken', '10.1.1.0/24');
});
afterAll(() => api.stop());

describe.each(['networks', 'subnets'] as const)('PATCH of %s', (kind) => {
  const path = () => `${kind}/${made[kind]}`;

  it('changes the name and nothing else', async () => {
    const before = (await call('GET', path())).body;
    const { status, body } = await call('PATCH', path(), { name: `renamed-${kind}` });
    expect([status, body]).toEqual([200, { ...before, name: `renamed-${kind}` }]);
    expect((await call('GET', path())).body).toEqual(body);
  });

  it.each([
    ['cidr', { name: 'x', cidr: '10.1.0.0/20' }],
    ['location', { name: 'x', location: 'us-east-a' }],
    ['vpc_network_id', { vpc_network_id: 'x', name: 'x' }],
    ['gateway', { name: 'x', gateway: '10.1.0.9' }],
    ['name', { name: 'Not A Name' }],
    ['name', {}],
  ])('refuses a change of %s and names the member', async (field, body) => {
    const before = (await call('GET', path())).body;
    expect(badField(await call('PATCH', path(), body))).toEqual([400, field]);
    expect((await call('GET', path())).body).toEqual(before);
  });

  it('refuses a name that another one has', async () => {
    expect(refusal(await call('PATCH', path(), { name: 'taken' }))).toEqual([409, 'name_taken']);
  });

  it('does not exist for another tenant', async () => {
    const foreign = `/projects/${stranger.projectId}/vpc/${path()}`;
    const reply = await api.call('PATCH', foreign, {
      ...{ bearer: stranger.accessKey, body: { name: 'mine' } },
    });
    expect(reply.status).toBe(404);
  });
});
