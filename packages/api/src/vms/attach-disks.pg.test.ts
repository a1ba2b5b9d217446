import { newId } from '@gantry/model/ids';
import { badField, refusal } from '@gantry/testkit/api/read-errors';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import {
  failOperation,
  finishDisk,
  finishVm,
  finishVmDeletion,
} from '@gantry/testkit/make/finished';
import { addHosts } from '@gantry/testkit/make/hosts';
import { placeVm } from '@gantry/testkit/make/placements';
import { makeTenant, SSH_PUBLIC_KEY, type TestTenant } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let api: TestApi;
let tenant: TestTenant;
let stranger: TestTenant;
let project: string;

beforeAll(async () => {
  api = await startTestApi();
  tenant = await makeTenant(api, 'acme');
  stranger = await makeTenant(api, 'other');
  project = `/projects/${tenant.projectId}`;
});
afterAll(() => api.stop());

const call = (method: string, path: string, body?: unknown, bearer = tenant.accessKey) =>
  api.call(method, path, body === undefined ? { bearer } : { bearer, body });
const get = (path: string) => call('GET', path);

let made = 0;
const EU = 'eu-north-a';

async function makeVm(state: 'running' | 'stopped' = 'running', location = EU): Promise<string> {
  const { body } = await call('POST', `${project}/vms`, {
    name: `vm-${made++}`,
    type: 'a40.1x',
    location,
    image: 'debian-12',
    ssh_public_key: SSH_PUBLIC_KEY,
  });
  await finishVm(api.sql, body.operation.metadata.id, state);
  return body.operation.metadata.id;
}

async function makeDisk(overrides: object = {}, owner = tenant): Promise<string> {
  const disk = { name: `disk-${made++}`, size: '10GiB', location: EU, ...overrides };
  const path = `/projects/${owner.projectId}/disks`;
  const { body } = await call('POST', path, disk, owner.accessKey);
  await finishDisk(api.sql, body.operation.metadata.id);
  return body.operation.metadata.id;
}

type Mode = 'read-write' | 'read-only';
const attach = (vmId: string, diskIds: string[], mode: Mode = 'read-write') =>
  call('POST', `${project}/vms/${vmId}/attach-disks`, {
    attach_disks: diskIds.map((disk_id) => ({ disk_id, mode, attachment_type: 'data' })),
  });
const detach = (vmId: string, diskIds: string[]) =>
  call('POST', `${project}/vms/${vmId}/detach-disks`, { detach_disks: diskIds });

async function attached(vmId: string, diskId: string, mode: Mode = 'read-write'): Promise<void> {
  expect((await attach(vmId, [diskId], mode)).body.code).toBeUndefined();
  await finishVm(api.sql, vmId, 'running');
}

describe('attaching disks', () => {
  it.each(['running', 'stopped'] as const)('is an operation on a %s VM', async (state) => {
    const [vmId, diskId] = [await makeVm(state), await makeDisk()];
    const before = (await get(`${project}/vms/${vmId}`)).body.state;
    const { status, body } = await attach(vmId, [diskId], 'read-only');
    expect(status).toBe(200);
    const wish = { disk_id: diskId, mode: 'read-only', attachment_type: 'data' };
    expect(body.operation).toMatchObject({
      state: 'IN_PROGRESS',
      metadata: {
        operation_name: 'ATTACH_DISKS',
        type: 'vm',
        id: vmId,
        request: { attach_disks: [wish] },
      },
      result: null,
    });
    const vm = (await get(`${project}/vms/${vmId}`)).body;
    expect(vm.state).toBe(before);
    expect(vm.disks.map(({ id }: { id: string }) => id)).toContain(diskId);
    const shown = { attachment_type: 'data', mode: 'read-only' };
    expect(vm.disks[1]).toMatchObject({ id: diskId, ...shown });
    const disk = (await get(`${project}/disks/${diskId}`)).body;
    expect(disk).toMatchObject({ ...shown, vm_ids: [vmId] });
  });

  it('defaults to read-write and data', async () => {
    const [vmId, diskId] = [await makeVm(), await makeDisk()];
    const { body } = await call('POST', `${project}/vms/${vmId}/attach-disks`, {
      attach_disks: [{ disk_id: diskId }],
    });
    expect(body.operation.metadata.request.attach_disks[0]).toMatchObject({
      mode: 'read-write',
      attachment_type: 'data',
    });
  });

  it('attaches a writable disk to one VM only, in either order of the modes', async () => {
    const [writer, other, disk] = [await makeVm(), await makeVm(), await makeDisk()];
    await attached(writer, disk);
    expect(refusal(await attach(other, [disk], 'read-write'))).toEqual([409, 'disk_attached']);
    expect(refusal(await attach(other, [disk], 'read-only'))).toEqual([409, 'disk_attached']);
    const read = await makeDisk();
    await attached(writer, read, 'read-only');
    expect(refusal(await attach(other, [read], 'read-write'))).toEqual([409, 'disk_attached']);
  });

  it('attaches a disk to many readers', async () => {
    const [first, second, disk] = [await makeVm(), await makeVm(), await makeDisk()];
    await attached(first, disk, 'read-only');
    await attached(second, disk, 'read-only');
    const { body } = await get(`${project}/disks/${disk}`);
    expect([...body.vm_ids].sort()).toEqual([first, second].sort());
    expect(body.mode).toBe('read-only');
  });

  it('attaches a shared volume to many writers and readers', async () => {
    const disk = await makeDisk({ type: 'shared-volume' });
    await attached(await makeVm(), disk, 'read-only');
    await attached(await makeVm(), disk, 'read-write');
    await attached(await makeVm(), disk, 'read-write');
    expect((await get(`${project}/disks/${disk}`)).body).toMatchObject({
      mode: 'read-write',
      attachment_type: 'data',
      vm_ids: [expect.any(String), expect.any(String), expect.any(String)],
    });
  });

  it('attaches a disk to one of several concurrent VMs', async () => {
    const vmIds = [await makeVm(), await makeVm(), await makeVm()];
    const disk = await makeDisk();
    const modes: Mode[] = ['read-write', 'read-only', 'read-write'];
    const replies = await Promise.all(
      vmIds.map((vmId, index) => attach(vmId, [disk], modes[index] ?? 'read-write')),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    expect(await api.sql`select from disk_attachments where disk_id = ${disk}`).toHaveLength(1);
  });

  it('excludes a concurrent deletion of the disk', async () => {
    for (let round = 0; round < 5; round++) {
      const [vmId, disk] = [await makeVm(), await makeDisk()];
      const replies = await Promise.all([
        attach(vmId, [disk]),
        call('DELETE', `${project}/disks/${disk}`),
      ]);
      expect(replies.map(({ status }) => status).sort()).toEqual([200, 409]);
    }
  });

  it('does not deadlock with a request that names the same disks in the opposite order', async () => {
    const [one, two] = [await makeVm(), await makeVm()];
    const [a, b] = [await makeDisk(), await makeDisk()];
    const replies = await Promise.all([
      attach(one, [a, b], 'read-only'),
      attach(two, [b, a], 'read-only'),
    ]);
    expect(replies.map(({ status }) => status)).toEqual([200, 200]);
  });

  it('attaches all disks of a request or none', async () => {
    const [writer, other] = [await makeVm(), await makeVm()];
    const [free, taken] = [await makeDisk(), await makeDisk()];
    await attached(writer, taken);
    expect(refusal(await attach(other, [free, taken]))).toEqual([409, 'disk_attached']);
    expect((await get(`${project}/disks/${free}`)).body.vm_ids).toEqual([]);
  });

  it('allows sixteen disks, including the OS disk', async () => {
    const vmId = await makeVm();
    const disks = [];
    for (let count = 0; count < 16; count++) disks.push(await makeDisk());
    expect(refusal(await attach(vmId, disks))).toEqual([409, 'conflict']);
    expect((await attach(vmId, disks.slice(0, 15))).status).toBe(200);
    await finishVm(api.sql, vmId, 'running');
    expect(refusal(await attach(vmId, disks.slice(15)))).toEqual([409, 'conflict']);
  });

  it('replies alike for disks of others and unknown disks', async () => {
    const vmId = await makeVm();
    const foreign = await makeDisk({}, stranger);
    expect(refusal(await attach(vmId, [foreign]))).toEqual([404, 'not_found']);
    expect(refusal(await attach(vmId, [newId()]))).toEqual([404, 'not_found']);
    expect(refusal(await detach(vmId, [foreign]))).toEqual([404, 'not_found']);
    expect(await api.sql`select from disk_attachments where disk_id = ${foreign}`).toHaveLength(0);
  });

  it('refuses disks that the host of the VM has no room for, and attaches none', async () => {
    const vmId = await makeVm();
    const [host] = await addHosts(api.sql, 1);
    await placeVm(api.sql, { vmId, hostId: host?.id ?? '' });
    const offer = (gib: number) =>
      api.sql`update hosts set storage_gib = ${gib} where id = ${host?.id ?? ''}`;
    const diskIds = [await makeDisk({ size: '40GiB' }), await makeDisk({ size: '60GiB' })];
    const shared = await makeDisk({ size: '5TiB', type: 'shared-volume' });
    // The OS disk has 128 GiB.
    await offer(227);
    const reply = await attach(vmId, diskIds);
    expect(refusal(reply)).toEqual([409, 'conflict']);
    expect(reply.body.message).toContain('the host of the VM has no room');
    expect((await get(`${project}/vms/${vmId}`)).body.disks).toHaveLength(1);
    await offer(228);
    expect((await attach(vmId, [...diskIds, shared])).status).toBe(200);
  });

  it('does not wait for storage of a VM that has no host', async () => {
    const vmId = await makeVm('stopped');
    const diskId = await makeDisk({ size: '10TiB' });
    expect((await attach(vmId, [diskId])).status).toBe(200);
  });

  it('refuses a disk in another location', async () => {
    const [vmId, disk] = [await makeVm(), await makeDisk({ location: 'us-east-a' })];
    expect(refusal(await attach(vmId, [disk]))).toEqual([409, 'conflict']);
  });

  it('refuses a disk that has an unfinished operation, and one whose deletion failed', async () => {
    const [vmId, disk] = [await makeVm(), await makeDisk()];
    await call('PATCH', `${project}/disks/${disk}`, { size: '20GiB' });
    expect(refusal(await attach(vmId, [disk]))).toEqual([409, 'operation_in_progress']);
    await finishDisk(api.sql, disk);
    await call('DELETE', `${project}/disks/${disk}`);
    await failOperation(api.sql, disk);
    expect(refusal(await attach(vmId, [disk]))).toEqual([409, 'conflict']);
  });

  it('refuses the OS disk of another VM and a disk that is already attached', async () => {
    const [vmId, other, disk] = [await makeVm(), await makeVm(), await makeDisk()];
    const osDisk = (await get(`${project}/vms/${other}`)).body.disks[0].id;
    expect(refusal(await attach(vmId, [osDisk], 'read-only'))).toEqual([409, 'disk_attached']);
    await attached(vmId, disk, 'read-only');
    expect(refusal(await attach(vmId, [disk], 'read-only'))).toEqual([409, 'disk_attached']);
  });

  it('is refused for an unfinished operation before the state of the VM is checked', async () => {
    const [vmId, disk] = [await makeVm(), await makeDisk()];
    await call('PATCH', `${project}/vms/${vmId}`, { action: 'STOP' });
    expect(refusal(await attach(vmId, [disk]))).toEqual([409, 'operation_in_progress']);
    await finishVm(api.sql, vmId, 'crashed');
    expect(refusal(await attach(vmId, [disk]))).toEqual([409, 'conflict']);
    expect(refusal(await detach(vmId, [disk]))).toEqual([409, 'conflict']);
  });
});

describe('detaching disks', () => {
  it('is an operation on the VM, and the disk stays attached until the host has detached it', async () => {
    const [vmId, other, disk] = [await makeVm(), await makeVm(), await makeDisk()];
    await attached(vmId, disk);
    const { status, body } = await detach(vmId, [disk]);
    expect(status).toBe(200);
    expect(body.operation.metadata).toMatchObject({
      operation_name: 'DETACH_DISKS',
      type: 'vm',
      id: vmId,
      request: { detach_disks: [disk] },
    });
    expect((await get(`${project}/vms/${vmId}`)).body.disks).toHaveLength(1);
    expect(refusal(await attach(other, [disk]))).toEqual([409, 'disk_attached']);
    const deleted = await call('DELETE', `${project}/disks/${disk}`);
    expect(refusal(deleted)).toEqual([409, 'disk_attached']);
    await finishVm(api.sql, vmId, 'running');
    expect((await get(`${project}/disks/${disk}`)).body).toMatchObject({
      vm_ids: [],
      attachment_type: '',
      mode: '',
      state: 'ready',
    });
    expect((await attach(other, [disk])).status).toBe(200);
  });

  it('refuses the OS disk and disks that are not attached to the VM', async () => {
    const [vmId, other, disk] = [await makeVm(), await makeVm(), await makeDisk()];
    await attached(other, disk);
    const osDisk = (await get(`${project}/vms/${vmId}`)).body.disks[0].id;
    expect(refusal(await detach(vmId, [osDisk]))).toEqual([409, 'conflict']);
    expect(refusal(await detach(vmId, [disk]))).toEqual([409, 'conflict']);
    expect((await get(`${project}/disks/${disk}`)).body.vm_ids).toEqual([other]);
  });

  it('can be repeated after a failure', async () => {
    const [vmId, disk] = [await makeVm(), await makeDisk()];
    await attached(vmId, disk);
    await detach(vmId, [disk]);
    await failOperation(api.sql, vmId);
    expect((await detach(vmId, [disk])).status).toBe(200);
  });

  it('happens when the VM is deleted, and the disk stays', async () => {
    const [vmId, disk] = [await makeVm(), await makeDisk()];
    await attached(vmId, disk);
    await call('DELETE', `${project}/vms/${vmId}`);
    await finishVmDeletion(api.sql, vmId);
    expect((await get(`${project}/disks/${disk}`)).body).toMatchObject({ vm_ids: [], mode: '' });
  });
});

describe('an invalid request', () => {
  const disk_id = newId();
  it.each([
    ['attach-disks', 'attach_disks', {}],
    ['attach-disks', 'attach_disks', { attach_disks: [] }],
    ['attach-disks', 'attach_disks', { attach_disks: disk_id }],
    ['attach-disks', 'attach_disks.0', { attach_disks: [disk_id] }],
    ['attach-disks', 'attach_disks.0.disk_id', { attach_disks: [{ disk_id: 'no-uuid' }] }],
    ['attach-disks', 'attach_disks.0.mode', { attach_disks: [{ disk_id, mode: 'rw' }] }],
    [
      'attach-disks',
      'attach_disks.0.attachment_type',
      { attach_disks: [{ disk_id, attachment_type: 'os' }] },
    ],
    ['attach-disks', 'attach_disks.0.boot', { attach_disks: [{ disk_id, boot: true }] }],
    ['attach-disks', 'attach_disks.1.disk_id', { attach_disks: [{ disk_id }, { disk_id }] }],
    [
      'attach-disks',
      'attach_disks.1.disk_id',
      { attach_disks: [{ disk_id }, { disk_id: disk_id.toUpperCase() }] },
    ],
    ['detach-disks', 'detach_disks', { detach_disks: [] }],
    ['detach-disks', 'detach_disks.0', { detach_disks: ['a\u0000b'] }],
    ['detach-disks', 'detach_disks.1', { detach_disks: [disk_id, disk_id] }],
    ['detach-disks', 'force', { detach_disks: [disk_id], force: true }],
  ])('gets an error from %s that names %s', async (action, field, body) => {
    const reply = await call('POST', `${project}/vms/${newId()}/${action}`, body);
    expect(badField(reply)).toEqual([400, field]);
  });

  it('is refused for a VM of another project and a malformed id', async () => {
    const [vmId, disk] = [await makeVm(), await makeDisk({}, stranger)];
    const path = `/projects/${stranger.projectId}/vms`;
    const body = { attach_disks: [{ disk_id: disk }] };
    const foreign = await call('POST', `${path}/${vmId}/attach-disks`, body, stranger.accessKey);
    expect(refusal(foreign)).toEqual([404, 'not_found']);
    const odd = await call('POST', `${path}/seven/attach-disks`, body, stranger.accessKey);
    expect(badField(odd)).toEqual([400, 'vm_id']);
  });

  it('is refused for a read-only caller', async () => {
    const body = { attach_disks: [{ disk_id }] };
    const path = `${project}/vms/${newId()}/attach-disks`;
    expect(refusal(await call('POST', path, body, tenant.readOnlyKey))).toEqual([403, 'forbidden']);
  });
});
