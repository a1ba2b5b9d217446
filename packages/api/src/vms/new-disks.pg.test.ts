import { newId } from '@gantry/model/ids';
import { badField, refusal } from '@gantry/testkit/api/read-errors';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { finishDisk, finishVm, finishVmDeletion } from '@gantry/testkit/make/finished';
import { addHosts } from '@gantry/testkit/make/hosts';
import { diskBody, newName, vmBody } from '@gantry/testkit/make/request-bodies';
import { makeTenant, type TestTenant } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let api: TestApi;
let tenant: TestTenant;
let stranger: TestTenant;

beforeAll(async () => {
  api = await startTestApi();
  [tenant, stranger] = await Promise.all([makeTenant(api, 'acme'), makeTenant(api, 'other')]);
});
afterAll(() => api.stop());

const call = (method: string, path: string, body?: unknown, owner = tenant, headers = {}) =>
  api.call(method, `/projects/${owner.projectId}${path}`, {
    ...{ bearer: owner.accessKey, body, headers },
  });
const create = (disks: unknown, changes = {}, headers = {}) =>
  call('POST', '/vms', vmBody({ disks, ...changes }), tenant, headers);
const idOf = (reply: { body: { operation: { metadata: { id: string } } } }) =>
  reply.body.operation.metadata.id;

async function makeDisk(changes = {}, owner = tenant): Promise<string> {
  const id = idOf(await call('POST', '/disks', diskBody(changes), owner));
  await finishDisk(api.sql, id);
  return id;
}

/** Refused requests are in the audit log, and nowhere else. */
const everything = () => api.sql`
  select (select json_agg(v) from vms v) as vms, (select json_agg(d) from disks d) as disks,
    (select json_agg(a) from disk_attachments a) as attachments, (select json_agg(o) from operations o) as operations,
    (select json_agg(m) from meter_intervals m) as metered, (select json_agg(q) from quotas q) as quotas`;

const used = async (type: string) => {
  const { body } = await call('GET', '/quotas');
  return body.quotas.find((quota: { type: string }) => quota.type === type).used as number;
};

describe('the disks of a new VM', () => {
  it('are attached if they exist and else created, with quota, metering and an operation', async () => {
    const [existing, name] = [await makeDisk(), newName()];
    const [disksBefore, gibBefore] = [await used('disks'), await used('disk_gib')];
    const disks = [
      { disk_id: existing, mode: 'read-only' },
      { name, size: '2TiB', block_size: 4096, type: 'shared-volume' },
    ];
    const reply = await create(disks);
    expect(reply.body.operation.metadata.request.disks).toMatchObject(disks);
    const vm = (await call('GET', `/vms/${idOf(reply)}`)).body;
    const [os, ...others] = vm.disks;
    expect(os.attachment_type).toBe('os');
    const made = others.find((disk: { name: string }) => disk.name === name);
    expect(others).toHaveLength(2);
    expect(others).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ id: existing, mode: 'read-only', attachment_type: 'data' }),
        expect.objectContaining({ ...disks[1], mode: 'read-write', location: vm.location }),
      ]),
    );
    expect((await call('GET', `/disks/${made.id}`)).body).toMatchObject({
      ...{ state: 'ready', vm_ids: [vm.id] },
    });
    expect([await used('disks'), await used('disk_gib')]).toEqual([
      disksBefore + 1,
      gibBefore + 2048,
    ]);
    expect(
      await api.sql`select resource_type, units::int, ended_at from meter_intervals where resource_id = ${made.id}`,
    ).toEqual([{ resource_type: 'shared-volume', units: 2048, ended_at: null }]);
    const operations = await call('GET', `/disks/operations?resource_id=${made.id}`);
    expect(operations.body.items).toMatchObject([
      { state: 'SUCCEEDED', metadata: { operation_name: 'CREATE', request: { name } } },
    ]);
  });

  it('stay when the VM is deleted', async () => {
    const vmId = idOf(await create([{ name: newName(), size: '1GiB' }]));
    await finishVm(api.sql, vmId, 'running');
    const [, disk] = (await call('GET', `/vms/${vmId}`)).body.disks;
    await call('DELETE', `/vms/${vmId}`);
    await finishVmDeletion(api.sql, vmId);
    expect((await call('GET', `/disks/${disk.id}`)).body).toMatchObject({ vm_ids: [] });
  });

  it('are created once for a repeated request', async () => {
    const body = vmBody({ disks: [{ name: newName(), size: '1GiB' }] });
    const send = () => call('POST', '/vms', body, tenant, { 'idempotency-key': 'with-disks' });
    expect((await send()).body).toEqual((await send()).body);
  });

  it('count as attached for requests that race for one of them', async () => {
    const disk = await makeDisk();
    const replies = await Promise.all([1, 2, 3].map(() => create([{ disk_id: disk }])));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
  });
});

describe('a request for a VM with disks is refused, names the field and changes nothing,', () => {
  const refused = async (
    disks: unknown,
    [status, code, field]: [number, string, string],
    changes = {},
  ) => {
    const before = await everything();
    const reply = await create(disks, changes);
    expect([...refusal(reply), badField(reply)[1]]).toEqual([status, code, field]);
    expect(await everything()).toEqual(before);
  };
  const fresh = () => ({ name: newName(), size: '1GiB' });

  it.each<[string, () => unknown, string]>([
    ['for a disk without a size', () => [{ name: 'a' }], 'disks.0.size'],
    ['for a disk without a name', () => [{ size: '1GiB' }], 'disks.0.name'],
    ['for a size that no disk has', () => [fresh(), { name: 'a', size: '0GiB' }], 'disks.1.size'],
    ['for both forms at once', () => [{ disk_id: newId(), size: '1GiB' }], 'disks.0.size'],
    ['for an unknown member', () => [{ ...fresh(), location: 'us-east-a' }], 'disks.0'],
    [
      'for a new name that is there twice',
      () => ['a', 'a'].map((name) => ({ ...fresh(), name })),
      'disks.1.name',
    ],
    ['for more than fifteen', () => Array.from({ length: 16 }, fresh), 'disks'],
    ['for an unknown disk', () => [fresh(), { disk_id: newId() }], 'disks.1.disk_id'],
  ])('%s', async (_, disks, field) => {
    const reply = await create(disks());
    expect(refusal(reply)).toEqual([400, 'bad_request']);
    expect(badField(reply)[1]).toMatch(new RegExp(`^${field}`));
  });

  it('for a disk of another project, as for an unknown one', async () => {
    const foreign = await makeDisk({}, stranger);
    await refused([fresh(), { disk_id: foreign }], [400, 'bad_request', 'disks.1.disk_id']);
  });

  it('for a disk that cannot be attached', async () => {
    const disk = await makeDisk();
    await create([{ disk_id: disk }]);
    await refused([fresh(), { disk_id: disk }], [409, 'disk_attached', 'disks.1.disk_id']);
    const elsewhere = await makeDisk({ location: 'us-east-a' });
    await refused([{ disk_id: elsewhere }], [409, 'conflict', 'disks.0.disk_id']);
    const unfinished = idOf(await call('POST', '/disks', diskBody()));
    await refused([{ disk_id: unfinished }], [409, 'operation_in_progress', 'disks.0.disk_id']);
  });

  it('for disks of different hosts, unless these share their storage', async () => {
    const hosts = (await addHosts(api.sql, 2)).map(({ id }) => id);
    const ids = [await makeDisk(), await makeDisk()];
    const disks = ids.map((disk_id) => ({ disk_id }));
    await api.sql`update disks d set host_id = p.host_id from unnest(${ids}::uuid[], ${hosts}::uuid[]) p (id, host_id)
      where p.id = d.id`;
    await refused(disks, [409, 'conflict', 'disks.1.disk_id']);
    await api.sql`update hosts set shared_storage = true`;
    expect((await create(disks)).status).toBe(200);
  });

  it('for a name that another disk has', async () => {
    const name = newName();
    await makeDisk({ name });
    await refused([fresh(), { ...fresh(), name }], [409, 'name_taken', 'disks.1.name']);
  });

  it('for a quota or a catalogue entry that does not allow it', async () => {
    await api.sql`update quotas set max = used + 1 where type = 'disk_gib'`;
    const before = await everything();
    expect(refusal(await create([fresh()], { type: 'a41.1x' }))).toEqual([422, 'unknown_type']);
    expect(refusal(await create([fresh()], { image: 'none' }))).toEqual([422, 'unknown_image']);
    const subnet = await create([fresh()], { network_interfaces: [{ subnet_id: newId() }] });
    expect(badField(subnet)).toEqual([400, 'network_interfaces.0.subnet_id']);
    expect(refusal(await create([fresh(), fresh()]))).toEqual([422, 'quota_exceeded']);
    expect(await everything()).toEqual(before);
    expect((await create([fresh()])).status).toBe(200);
    await api.sql`update quotas set max = 1000000 where type = 'disk_gib'`;
  });
});

describe('virtualization_features of a new VM', () => {
  it('has to be what the type has', async () => {
    const want = (nested_virtualization: boolean) =>
      call('POST', '/vms', vmBody({ virtualization_features: { nested_virtualization } }));
    expect((await want(false)).status).toBe(200);
    expect(badField(await want(true))).toEqual([
      ...[400, 'virtualization_features.nested_virtualization'],
    ]);
  });
});
