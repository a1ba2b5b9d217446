import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { makeTenant, SSH_PUBLIC_KEY, type TestTenant } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, expect, it } from 'vitest';

let api: TestApi;
let tenant: TestTenant;
beforeAll(async () => {
  api = await startTestApi();
  tenant = await makeTenant(api, 'acme');
});
afterAll(() => api.stop());

it.each([
  { type: 'a40.1x', has: '60 GB, a GPU and a drive', seconds: 600 },
  { type: 'a40.8x', has: '480 GB, 8 GPUs and 8 drives', seconds: 600 + 352 * 2 + 14 * 15 },
])(
  'operations of a VM with $has may take $seconds s, and more while its drives are erased',
  async ({ type, seconds }) => {
    const path = `/projects/${tenant.projectId}/vms`;
    const call = async (method: string, below: string, body?: object) => {
      const options = { bearer: tenant.accessKey, ...(body && { body }) };
      const reply = await api.call(method, `${path}${below}`, options);
      expect(reply.status, JSON.stringify(reply.body)).toBe(200);
      return reply.body.operation;
    };
    const expectDeadline = async (
      { operation_id }: { operation_id: string },
      { erasingSeconds }: { erasingSeconds: number },
    ) => {
      const limit = seconds + erasingSeconds;
      const [row] = await api.sql<{ seconds: number }[]>`
      select extract(epoch from deadline_at - now())::float8 as seconds from operations where id = ${operation_id}`;
      // Some of the time has passed.
      expect(row?.seconds).toBeGreaterThan(limit - 60);
      expect(row?.seconds).toBeLessThanOrEqual(limit);
    };
    const created = await call('POST', '', {
      ...{ name: type.replace('.', '-'), type, location: 'eu-north-a', image: 'debian-12' },
      ssh_public_key: SSH_PUBLIC_KEY,
    });
    await expectDeadline(created, { erasingSeconds: 0 });
    const deleted = await call('DELETE', `/${created.metadata.id}`);
    // Its drives have 960 GB each, and are erased at the same time.
    await expectDeadline(deleted, { erasingSeconds: 960 });
  },
);
