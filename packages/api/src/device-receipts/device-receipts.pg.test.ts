import { newId } from '@gantry/model/ids';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { recordReceipt } from '@gantry/testkit/make/receipts';
import { makeTenant, type TestTenant } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let api: TestApi;
let acme: TestTenant;
let globex: TestTenant;

beforeAll(async () => {
  api = await startTestApi();
  acme = await makeTenant(api, 'acme');
  globex = await makeTenant(api, 'globex');
});
afterAll(() => api.stop());

const list = async ({ projectId, readOnlyKey }: TestTenant, query = '') =>
  await api.call('GET', `/projects/${projectId}/device-receipts${query}`, { bearer: readOnlyKey });

describe("a tenant's receipts", () => {
  it('show how a device was cleaned, but not where it is', async () => {
    const [vmId, hostId, deviceId] = [newId(), newId(), newId()];
    const failure = {
      code: 'reset_failed',
      message: '0000:10:00.0 does not answer, nor does 00010000:C1:00.1 behind it',
    };
    const of = { projectId: acme.projectId, vmId, hostId, deviceId };
    const lost = { name: 'identity', state: 'not_verified' as const };
    const properties = [{ ...lost, detail: '0000:10:00.0 is lost' }];
    const failedId = await recordReceipt(api.sql, { ...of, failure, properties });
    const cleanId = await recordReceipt(api.sql, { ...of, kind: 'drive' });
    const { status, body } = await list(acme);
    expect(status).toBe(200);
    const receipt = { vm_id: vmId, finished_at: '2030-01-31T12:00:00.500Z' };
    expect(body).toEqual({
      items: [
        {
          ...receipt,
          id: cleanId,
          kind: 'drive',
          serial: 'S1',
          method: 'sanitize',
          failure_code: '',
          failure_message: '',
          properties: [],
        },
        {
          ...receipt,
          id: failedId,
          kind: 'gpu',
          serial: '',
          method: 'flr',
          failure_code: 'reset_failed',
          failure_message: 'the device does not answer, nor does the device behind it',
          properties: [{ ...lost, detail: 'the device is lost' }],
        },
      ],
      next_page_token: '',
    });
  });

  it("are only those of the project's VMs, newest first, in pages", async () => {
    const deviceId = newId();
    const ids: string[] = [];
    for (const _receipt of [1, 2, 3]) {
      ids.unshift(await recordReceipt(api.sql, { deviceId, projectId: globex.projectId }));
      await recordReceipt(api.sql, { deviceId, projectId: acme.projectId });
    }
    const first = (await list(globex, '?limit=2')).body;
    const second = (await list(globex, `?limit=2&page_token=${first.next_page_token}`)).body;
    expect(second.next_page_token).toBe('');
    const listed = [...first.items, ...second.items].map(({ id }: { id: string }) => id);
    expect(listed).toEqual(ids);
  });
});
