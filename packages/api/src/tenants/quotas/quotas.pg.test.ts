import { QUOTA_TYPES } from '@gantry/model/states';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import {
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
  other = await makeTenant(api, 'other');
  operator = await makeUser(api, 'operator@gantry.test', { operator: true });
});
afterAll(() => api.stop());

type Quota = { type: string; max: number; used: number; available: number };
const quotas = async (bearer = acme.readOnlyKey): Promise<Quota[]> =>
  (await api.call('GET', `/projects/${acme.projectId}/quotas`, { bearer })).body.quotas;
const quota = async (type: string) => (await quotas()).find((row) => row.type === type);
const setQuotas = (projectId: string, body: unknown, bearer = operator.token) =>
  api.call('PUT', `/admin/projects/${projectId}/quotas`, { bearer, body });
const createVm = (name: string) =>
  api.call('POST', `/projects/${acme.projectId}/vms`, {
    bearer: acme.accessKey,
    body: {
      name,
      type: 'a40.1x',
      location: 'eu-north-a',
      image: 'debian-12',
      ssh_public_key: SSH_PUBLIC_KEY,
    },
  });

describe('quotas', () => {
  it('are listed in a fixed order with the used and the available amount', async () => {
    const rows = await quotas();
    expect(rows.map(({ type }) => type)).toEqual(QUOTA_TYPES);
    expect(rows[0]).toEqual({ type: 'vms', max: 1000, used: 0, available: 1000 });
    expect(await quota('access_keys')).toEqual({
      type: 'access_keys',
      max: 100,
      used: 2,
      available: 98,
    });
  });

  it("are not shown to another project's callers", async () => {
    const path = `/projects/${acme.projectId}/quotas`;
    expect((await api.call('GET', path, { bearer: other.accessKey })).status).toBe(404);
  });

  it('allow exactly the maximum number of concurrent creations', async () => {
    await setQuotas(acme.projectId, { vms: 5 });
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, index) => createVm(`racer-${index}`)),
    );
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(5);
    const refused = replies.filter(({ status }) => status === 422);
    expect(refused).toHaveLength(15);
    for (const { body } of refused) {
      expect(body).toMatchObject({ code: 'quota_exceeded', details: { type: 'vms', max: 5 } });
    }
    expect(await quota('vms')).toEqual({ type: 'vms', max: 5, used: 5, available: 0 });
    expect(await quota('gpus')).toMatchObject({ used: 5 });
  });

  it('have nothing available if they are lowered below the usage', async () => {
    const { status, body } = await setQuotas(acme.projectId, { vms: 2, gpus: 0 });
    expect(status).toBe(200);
    expect(body.quotas).toEqual(await quotas());
    expect(await quota('vms')).toEqual({ type: 'vms', max: 2, used: 5, available: 0 });
    expect(await quota('disks')).toMatchObject({ max: 2000 });
  });
});

describe('setting quotas', () => {
  it('is only for operators', async () => {
    expect((await setQuotas(acme.projectId, { vms: 9 }, acme.owner.token)).status).toBe(403);
    expect((await setQuotas(acme.projectId, { vms: 9 }, acme.accessKey)).status).toBe(403);
  });

  it('shows operators the same list', async () => {
    const path = `/admin/projects/${acme.projectId}/quotas`;
    const { body } = await api.call('GET', path, { bearer: operator.token });
    expect(body.quotas).toEqual(await quotas());
  });

  it('is not_found for an unknown project', async () => {
    expect((await setQuotas(acme.organizationId, { vms: 1 })).status).toBe(404);
    const path = `/admin/projects/${acme.organizationId}/quotas`;
    expect((await api.call('GET', path, { bearer: operator.token })).status).toBe(404);
  });

  it.each([[{ vms: -1 }], [{ vms: 1.5 }], [{ vms: '7' }], [{ cats: 3 }]])(
    'refuses %j',
    async (body) => {
      const reply = await setQuotas(acme.projectId, body);
      expect(reply.status).toBe(400);
      expect(reply.body.details[0].field).toBe(Object.keys(body)[0]);
    },
  );
});
