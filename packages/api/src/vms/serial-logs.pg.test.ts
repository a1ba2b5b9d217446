import { newId } from '@gantry/model/ids';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { makeTenant, SSH_PUBLIC_KEY, type TestTenant } from '@gantry/testkit/make/tenants';
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

const read = ({ projectId, readOnlyKey }: TestTenant, vmId: string) =>
  api.call('GET', `/projects/${projectId}/vms/${vmId}/serial-log`, { bearer: readOnlyKey });

async function createVm(name: string): Promise<string> {
  const { body } = await api.call('POST', `/projects/${acme.projectId}/vms`, {
    bearer: acme.accessKey,
    body: {
      name,
      type: 'a40.1x',
      location: 'eu-north-a',
      image: 'debian-12',
      ssh_public_key: SSH_PUBLIC_KEY,
    },
  });
  return body.operation.metadata.id;
}

describe("a VM's serial log", () => {
  it('is empty before any output, and then has the last part of it unchanged', async () => {
    const vmId = await createVm('printing');
    await createVm('another');
    const empty = await read(acme, vmId);
    expect([empty.status, empty.body]).toEqual([200, { serial_log: '', updated_at: '' }]);
    const tail = '\u001b[0mDebian GNU/Linux 12\r\n\ufffd login: ü'.padEnd(65_536, '.');
    await api.sql`insert into serial_logs (vm_id, tail, updated_at)
      values (${vmId}, ${tail}, '2030-01-31T12:00:00.5Z')`;
    expect((await read(acme, vmId)).body).toEqual({
      serial_log: tail,
      updated_at: '2030-01-31T12:00:00.500Z',
    });
  });

  it('is not_found for an unknown VM and for a VM of another project', async () => {
    const vmId = await createVm('hidden');
    await api.sql`insert into serial_logs (vm_id, tail) values (${vmId}, 'secret')`;
    const nowhere = await read(globex, newId());
    expect([nowhere.status, nowhere.body.code]).toEqual([404, 'not_found']);
    const foreign = await read(globex, vmId);
    expect({ ...foreign.body, error_id: '' }).toEqual({ ...nowhere.body, error_id: '' });
    expect((await read(globex, 'seven')).status).toBe(400);
  });
});
