import { newId } from '@gantry/model/ids';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { allRows } from '@gantry/testkit/database/all-rows';
import { finishDisk } from '@gantry/testkit/make/finished';
import { addHost } from '@gantry/testkit/make/hosts';
import { diskBody, LOCATION, newName, vmBody } from '@gantry/testkit/make/request-bodies';
import { makeTenant, type TestTenant } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let api: TestApi;
let tenant: TestTenant;

beforeAll(async () => {
  api = await startTestApi();
  tenant = await makeTenant(api, 'acme');
});
afterAll(() => api.stop());

const call = (path: string, body: unknown, headers = {}) =>
  api.call('POST', `/projects/${tenant.projectId}${path}`, {
    ...{ bearer: tenant.accessKey, body, headers },
  });
const validate = (changes = {}, headers = {}) => call('/vms:validate', vmBody(changes), headers);

/** Writes what the scheduler of the location writes. */
const record = async (fitting: number, lacking: string) => {
  await api.sql`delete from availabilities`;
  await api.sql`insert into availabilities (location, vm_type, available, fitting, lacking)
    values (${LOCATION}, 'a40.1x', ${fitting > 0}, ${fitting}, ${lacking})`;
};

async function makeDisk(): Promise<string> {
  const { body } = await call('/disks', diskBody());
  await finishDisk(api.sql, body.operation.metadata.id);
  return body.operation.metadata.id;
}

describe('the check of a creation', () => {
  it('writes nothing, also with disks and an Idempotency-Key', async () => {
    const disks = [{ name: newName(), size: '1GiB' }, { disk_id: await makeDisk() }];
    const before = await allRows(api.sql);
    const reply = await validate({ disks }, { 'idempotency-key': 'dry-run' });
    expect(reply.status).toBe(200);
    expect(await allRows(api.sql)).toEqual(before);
  });

  it('has the errors of a creation', async () => {
    const disk = await makeDisk();
    await call('/vms', vmBody({ name: 'taken', disks: [{ disk_id: disk }] }));
    const used =
      await api.sql`select used from quotas where project_id = ${tenant.projectId} and type = 'vms'`;
    for (const changes of [
      { name: 'Bad Name' },
      { name: 'taken' },
      { type: 'a41.1x' },
      { location: 'mars' },
      { image: 'none' },
      { ssh_keys: ['unknown-key'] },
      { network_interfaces: [{ subnet_id: newId() }] },
      { disks: [{ disk_id: disk }] },
      { disks: [{ disk_id: newId() }] },
      { virtualization_features: { nested_virtualization: true } },
    ]) {
      const [checked, created] = [await validate(changes), await call('/vms', vmBody(changes))];
      expect(created.status).toBeGreaterThanOrEqual(400);
      const { error_id: _, ...expected } = created.body;
      expect(checked).toMatchObject({ status: created.status, body: expected });
    }
    await api.sql`update quotas set max = used where project_id = ${tenant.projectId} and type = 'vms'`;
    expect((await validate()).body).toMatchObject({ code: 'quota_exceeded' });
    await api.sql`update quotas set max = 100 where project_id = ${tenant.projectId} and type = 'vms'`;
    expect(
      await api.sql`select used from quotas where project_id = ${tenant.projectId} and type = 'vms'`,
    ).toEqual(used);
  });

  it('states the price of the VM and of its new disks', async () => {
    await api.sql`delete from prices`;
    await api.sql`insert into prices (resource_type, usd_per_hour) values ('a40.1x', 1.25), ('persistent-ssd', 0.00013)`;
    const disks = [
      { name: newName(), size: '200GiB' },
      { disk_id: await makeDisk(), mode: 'read-only' },
    ];
    expect((await validate({ disks })).body).toMatchObject({
      ...{ usd_per_hour: 1.276, priced: true },
      charges: [
        { resource_type: 'a40.1x', quantity: 1, usd_per_hour: 1.25, priced: true },
        { resource_type: 'persistent-ssd', quantity: 200, usd_per_hour: 0.026, priced: true },
      ],
    });
    expect((await validate({ type: 'a40.2x' })).body).toMatchObject({
      ...{ usd_per_hour: 0, priced: false },
    });
  });

  it('states whether the VM fits, and if not why', async () => {
    await record(3, '');
    expect((await validate()).body).toMatchObject({ fits: true, reason: '' });
    await record(0, 'gpu_count');
    expect((await validate()).body).toMatchObject({
      fits: false,
      reason: 'too few GPUs are free on one host: try again later, or another type or location',
    });
  });

  it('compares a VM with the host that stores its disks, and with no other', async () => {
    await record(3, '');
    const host = await addHost(api.sql, { name: 'secret-name' });
    const disk = await makeDisk();
    await api.sql`update disks set host_id = ${host.id} where id = ${disk}`;
    const check = async () => (await validate({ disks: [{ disk_id: disk }] })).body;
    expect(await check()).toMatchObject({ fits: true, reason: '' });
    await api.sql`update hosts set admin_state = 'cordoned' where id = ${host.id}`;
    const refused = await check();
    expect(refused).toMatchObject({
      fits: false,
      reason: 'the host that stores the disks has no room for the VM: try again later',
    });
    expect(JSON.stringify(refused)).not.toContain('secret-name');
  });
});
