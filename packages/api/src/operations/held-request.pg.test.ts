import {
  failOperation,
  failOverdueOperation,
  succeedVmOperation,
} from '@gantry/db/queries/settle/end-operation';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { makeTenant, SSH_PUBLIC_KEY, type TestTenant } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let api: TestApi;
let tenant: TestTenant;
let vms: string;
let serial = 0;

const SECRET = 'hunter2-of-the-registry';
const base = { type: 'a40.1x', location: 'eu-north-a', image: 'debian-12' };
const failure = { code: 'host_failed', message: 'no' };

beforeAll(async () => {
  api = await startTestApi();
  tenant = await makeTenant(api, 'acme');
  vms = `/projects/${tenant.projectId}/vms`;
});
afterAll(() => api.stop());

const call = (method: string, path: string, body?: unknown) =>
  api.call(method, path, { bearer: tenant.accessKey, body });
const read = async (id: string) => (await call('GET', `${vms}/operations/${id}`)).body;
const listed = async (id: string) =>
  (await call('GET', `${vms}/operations?resource_id=${id}&limit=1000`)).body.items;

async function create() {
  serial += 1;
  const body = {
    ...base,
    name: `vm-${serial}`,
    ssh_public_key: SSH_PUBLIC_KEY,
    ssh_keys: [`${SSH_PUBLIC_KEY} second`, `${SSH_PUBLIC_KEY} third`],
    startup_script: `#!/bin/sh\necho ${SECRET}\n`,
    shutdown_script: `#!/bin/sh\necho bye ${SECRET}\n`,
    user_data: `#cloud-config\nruncmd: [[echo, ${SECRET}]]\n`,
  };
  const { operation } = (await call('POST', vms, body)).body;
  return { body, operation, vmId: operation.metadata.id, id: operation.operation_id };
}

/** What the tables of operations and of the audit log have, as text. */
const stored = async () => {
  const rows = await api.sql<{ row: string }[]>`
    select o::text as row from operations o union all select a::text from audit_logs a`;
  return rows.map(({ row }) => row).join('\n');
};

const ends: [string, (vm: Awaited<ReturnType<typeof create>>) => Promise<unknown>][] = [
  [
    'succeeds',
    ({ vmId }) => succeedVmOperation(api.sql, { id: vmId, project_id: tenant.projectId }),
  ],
  ['fails', ({ vmId }) => failOperation(api.sql, { resourceId: vmId, failure })],
  ['is overdue', ({ id }) => failOverdueOperation(api.sql, { operationId: id, failure })],
  ['is cancelled by a DELETE', ({ vmId }) => call('DELETE', `${vms}/${vmId}`)],
];

describe('the scripts and the key of a VM', () => {
  it.each(ends)('leave the operation of its creation when it %s', async (_, end) => {
    const vm = await create();
    expect(vm.operation.metadata.request).toEqual(vm.body);
    expect((await read(vm.id)).metadata.request).toEqual(vm.body);
    expect((await listed(vm.vmId))[0].metadata.request).toEqual(vm.body);
    await end(vm);
    const ended = await read(vm.id);
    expect(ended.state).not.toBe('IN_PROGRESS');
    expect(ended.metadata.request).toEqual({ ...base, name: vm.body.name });
    for (const operation of await listed(vm.vmId))
      expect(JSON.stringify(operation)).not.toMatch(new RegExp(`${SECRET}|ssh-`));
  });

  it('are stored with the VM alone, whatever an operation shows', async () => {
    await create();
    expect(await stored()).not.toContain(SECRET);
    expect(await stored()).not.toContain(SSH_PUBLIC_KEY);
  });

  it('are not shown by ended operations that an earlier version stored them in', async () => {
    const vm = await create();
    await failOperation(api.sql, { resourceId: vm.vmId, failure });
    await api.sql`update operations set request = ${api.sql.json(vm.body)} where id = ${vm.id}`;
    expect((await read(vm.id)).metadata.request).toEqual({ ...base, name: vm.body.name });
  });
});
