import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  makeTenant,
  SSH_PUBLIC_KEY,
  startTestApi,
  type TestApi,
  type TestTenant,
} from '../testing.ts';

let api: TestApi;
let tenant: TestTenant;
let vms: string;
const body = (name: string) => ({
  ...{
    name,
    type: 'a40.1x',
    location: 'eu-north-a',
    image: 'debian-12',
    ssh_public_key: SSH_PUBLIC_KEY,
  },
});

beforeAll(async () => {
  api = await startTestApi();
  tenant = await makeTenant(api, 'acme');
  vms = `/projects/${tenant.projectId}/vms`;
});
afterAll(() => api.stop());

const post = (path: string, value: unknown, headers = {}) =>
  api.call('POST', path, { bearer: tenant.accessKey, body: value, headers });
const get = (path: string) => api.call('GET', path, { bearer: tenant.accessKey });

describe('creating a VM', () => {
  it('replies with an unfinished operation that names the VM, and the VM can be read at once', async () => {
    const { status, body: reply } = await post(vms, body('first'));
    expect(reply).toMatchObject({
      operation: {
        state: 'IN_PROGRESS',
        metadata: { operation_name: 'CREATE', type: 'vm', request: body('first') },
        result: null,
        completed_at: '',
      },
    });
    expect(status).toBe(200);
    const vm = await get(`${vms}/${reply.operation.metadata.id}`);
    expect(vm.body).toMatchObject({
      name: 'first',
      state: 'STATE_CREATING',
      project_id: tenant.projectId,
    });
    expect(vm.body.disks).toHaveLength(1);
    expect(vm.body.network_interfaces).toHaveLength(1);
    const operation = await get(`${vms}/operations/${reply.operation.operation_id}`);
    expect(operation.body).toEqual(reply.operation);
  });
});
