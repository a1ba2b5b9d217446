import { newId } from '@gantry/model/ids';
import { badField, refusal } from '@gantry/testkit/api/read-errors';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { failOperation, finishDisk, finishVm } from '@gantry/testkit/make/finished';
import { addHosts } from '@gantry/testkit/make/hosts';
import { placeVm } from '@gantry/testkit/make/placements';
import { makeTenant, SSH_PUBLIC_KEY, type TestTenant } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

let api: TestApi;
let tenant: TestTenant;
let stranger: TestTenant;
let disks: string;

beforeAll(async () => {
  api = await startTestApi();
  tenant = await makeTenant(api, 'acme');
  stranger = await makeTenant(api, 'other');
  disks = `/projects/${tenant.projectId}/disks`;
});
afterAll(() => api.stop());

const call = (method: string, path: string, body?: unknown, bearer = tenant.accessKey) =>
  api.call(method, path, body === undefined ? { bearer } : { bearer, body });
const get = (path: string) => call('GET', path);

const body = (name: string) => ({ name, size: '100GiB', location: 'eu-north-a' });

async function makeDisk(name: string, overrides: object = {}): Promise<string> {
  const reply = await call('POST', disks, { ...body(name), ...overrides });
  expect(reply.body.code).toBeUndefined();
  const { id } = reply.body.operation.metadata;
  await finishDisk(api.sql, id);
  return id;
}

async function makeOsDisk(name: string): Promise<{ vmId: string; diskId: string }> {
  const vms = `/projects/${tenant.projectId}/vms`;
  const { body: reply } = await call('POST', vms, {
    name,
    type: 'a40.1x',
    location: 'eu-north-a',
    image: 'debian-12',
    ssh_public_key: SSH_PUBLIC_KEY,
  });
  const vmId = reply.operation.metadata.id;
  await finishVm(api.sql, vmId, 'running');
  const vm = await get(`${vms}/${vmId}`);
  return { vmId, diskId: vm.body.disks[0].id };
}

describe('creating a disk', () => {
  it('replies with an unfinished operation, and the disk can be read at once', async () => {
    const { status, body: reply } = await call('POST', disks, body('first'));
    expect(status).toBe(200);
    expect(reply.operation).toMatchObject({
      state: 'IN_PROGRESS',
      metadata: {
        operation_name: 'CREATE',
        type: 'disk',
        request: { ...body('first'), block_size: 512, type: 'persistent-ssd' },
      },
      result: null,
      completed_at: '',
    });
    const { id } = reply.operation.metadata;
    const disk = await get(`${disks}/${id}`);
    expect(disk.body).toEqual({
      id,
      ...body('first'),
      type: 'persistent-ssd',
      block_size: 512,
      state: 'creating',
      attachment_type: '',
      mode: '',
      vm_ids: [],
      storage: 'local',
      encrypted: false,
      tags: {},
      serial_number: expect.stringMatching(/^[0-9a-f]{20}$/),
      created_at: reply.operation.started_at,
      updated_at: reply.operation.started_at,
    });
    const operation = await get(`${disks}/operations/${reply.operation.operation_id}`);
    expect(operation.body).toEqual(reply.operation);
  });

  it('keeps the size as it was written, and accepts the other block size and type', async () => {
    const id = await makeDisk('shared', { size: '2TiB', block_size: 4096, type: 'shared-volume' });
    expect((await get(`${disks}/${id}`)).body).toMatchObject({
      size: '2TiB',
      block_size: 4096,
      type: 'shared-volume',
      state: 'ready',
    });
    const operations = await get(`${disks}/operations?resource_id=${id}`);
    expect(operations.body.items[0].result).toEqual((await get(`${disks}/${id}`)).body);
  });

  it('accepts the smallest and the largest size', async () => {
    await makeDisk('smallest', { size: '1GiB' });
    await makeDisk('largest', { size: '10TiB' });
  });

  it.each([
    ['name', { name: 'UPPER' }],
    ['name', { name: 'a\nb' }],
    ['name', { name: 'a'.repeat(64) }],
    ['name', { name: 7 }],
    ['name', { name: undefined }],
    ['size', { size: '99999999TiB' }],
    ['size', { size: '11TiB' }],
    ['size', { size: '10241GiB' }],
    ['size', { size: '0GiB' }],
    ['size', { size: '-1GiB' }],
    ['size', { size: '1.5TiB' }],
    ['size', { size: '010GiB' }],
    ['size', { size: '100 GiB' }],
    ['size', { size: '100GB' }],
    ['size', { size: '100gib' }],
    ['size', { size: '100GiB\n' }],
    ['size', { size: 100 }],
    ['size', { size: null }],
    ['block_size', { block_size: 0 }],
    ['block_size', { block_size: 1024 }],
    ['block_size', { block_size: '512' }],
    ['type', { type: 'nvme' }],
    ['location', { location: '' }],
    ['location', { location: 'eu\0north' }],
    ['location', { location: ['eu-north-a'] }],
    ['project_id', { project_id: newId() }],
    ['__proto__', JSON.parse('{"__proto__": 1}')],
  ])('names the field %s that is wrong: %j', async (field, change) => {
    const text = JSON.stringify({ ...body('bad'), ...change });
    const sent = field === '__proto__' ? text.replace('}', ',"__proto__":1}') : text;
    expect(badField(await call('POST', disks, sent))).toEqual([400, field]);
  });

  it('refuses an unknown location and creates nothing', async () => {
    const reply = await call('POST', disks, { ...body('nowhere'), location: 'moon-a' });
    expect(refusal(reply)).toEqual([422, 'unknown_location']);
    expect(await api.sql`select from disks where name = 'nowhere'`).toHaveLength(0);
  });

  it('refuses the name of another disk in the project; OS disks occupy no names', async () => {
    await makeOsDisk('taken-by-vm');
    await makeDisk('taken-by-vm');
    const again = await call('POST', disks, body('taken-by-vm'));
    expect(refusal(again)).toEqual([409, 'name_taken']);
  });

  it('refuses more than the quota', async () => {
    const small = await makeTenant(api, 'small');
    await api.sql`update quotas set max = 150 where project_id = ${small.projectId} and type = 'disk_gib'`;
    const path = `/projects/${small.projectId}/disks`;
    expect((await call('POST', path, body('one'), small.accessKey)).status).toBe(200);
    const second = await call('POST', path, body('two'), small.accessKey);
    expect(refusal(second)).toEqual([422, 'quota_exceeded']);
  });

  it('has one effect for one Idempotency-Key', async () => {
    const options = {
      bearer: tenant.accessKey,
      body: body('once'),
      headers: { 'idempotency-key': 'disk-once' },
    };
    const first = await api.call('POST', disks, options);
    expect((await api.call('POST', disks, options)).body).toEqual(first.body);
  });

  it('is forbidden for read-only callers', async () => {
    const reply = await call('POST', disks, body('forbidden'), tenant.readOnlyKey);
    expect(refusal(reply)).toEqual([403, 'forbidden']);
  });
});

describe('reading disks', () => {
  it('lists OS disks with their VM, and only the disks of the project', async () => {
    const { vmId, diskId } = await makeOsDisk('listed');
    const { body: list } = await get(disks);
    expect(list.items.find(({ id }: { id: string }) => id === diskId)).toMatchObject({
      name: 'listed',
      block_size: 0,
      attachment_type: 'os',
      mode: 'read-write',
      state: 'ready',
      vm_ids: [vmId],
      storage: 'local',
      encrypted: false,
      size: '128GiB',
    });
    const theirs = `/projects/${stranger.projectId}/disks`;
    expect((await call('GET', theirs, undefined, stranger.accessKey)).body.items).toEqual([]);
  });

  it('replies alike for disks of others and unknown disks, and refuses a malformed id', async () => {
    const id = await makeDisk('hidden');
    const path = `/projects/${stranger.projectId}/disks`;
    for (const [method, sent] of [
      ['GET', undefined],
      ['PATCH', { size: '1TiB' }],
      ['DELETE', undefined],
    ] as const) {
      const foreign = await call(method, `${path}/${id}`, sent, stranger.accessKey);
      const unknown = await call(method, `${path}/${newId()}`, sent, stranger.accessKey);
      expect(refusal(foreign)).toEqual([404, 'not_found']);
      expect(foreign.body.message).toBe(unknown.body.message);
      const odd = await call(method, `${path}/no-uuid`, sent, stranger.accessKey);
      expect(badField(odd)).toEqual([400, 'disk_id']);
    }
  });
});

describe('growing a disk', () => {
  it('changes the size at once, and the operation succeeds when the disk has grown', async () => {
    const id = await makeDisk('growing');
    const { body: reply } = await call('PATCH', `${disks}/${id}`, { size: '1TiB' });
    expect(reply.operation).toMatchObject({
      state: 'IN_PROGRESS',
      metadata: { operation_name: 'UPDATE', type: 'disk', id, request: { size: '1TiB' } },
    });
    expect((await get(`${disks}/${id}`)).body).toMatchObject({ size: '1TiB', state: 'resizing' });
    await finishDisk(api.sql, id);
    expect((await get(`${disks}/${id}`)).body).toMatchObject({ size: '1TiB', state: 'ready' });
  });

  it('refuses a smaller or equal size in any unit', async () => {
    const id = await makeDisk('two-tib', { size: '2TiB' });
    for (const size of ['1TiB', '2TiB', '2048GiB', '2047GiB']) {
      expect(badField(await call('PATCH', `${disks}/${id}`, { size }))).toEqual([400, 'size']);
    }
    expect((await call('PATCH', `${disks}/${id}`, { size: '2049GiB' })).status).toBe(200);
  });

  it.each([
    ['size', {}],
    ['size', { size: '99999999TiB' }],
    ['size', { size: 5 }],
    ['name', { size: '1TiB', name: 'renamed' }],
  ])('refuses a change with a wrong %s: %j', async (field, change) => {
    expect(badField(await call('PATCH', `${disks}/${newId()}`, change))).toEqual([400, field]);
  });

  it('refuses a size beyond the quota and keeps the old size', async () => {
    const id = await makeDisk('quota-bound');
    await api.sql`update quotas set max = used + 10 where project_id = ${tenant.projectId} and type = 'disk_gib'`;
    const reply = await call('PATCH', `${disks}/${id}`, { size: '111GiB' });
    expect(refusal(reply)).toEqual([422, 'quota_exceeded']);
    expect((await get(`${disks}/${id}`)).body).toMatchObject({ size: '100GiB', state: 'ready' });
    await api.sql`update quotas set max = 1000000 where project_id = ${tenant.projectId} and type = 'disk_gib'`;
  });
});

describe('growing a disk on a host', () => {
  it('is refused if the disks of the host do not fit its storage, and changes nothing', async () => {
    const [host] = await addHosts(api.sql, 1);
    const id = await makeDisk('on-small-host');
    const other = await makeDisk('beside-it', { size: '50GiB' });
    await api.sql`update disks set host_id = ${host?.id ?? ''} where id in (${id}, ${other})`;
    const offer = (gib: number | null) =>
      api.sql`update hosts set storage_gib = ${gib} where id = ${host?.id ?? ''}`;
    const grow = (size: string) => call('PATCH', `${disks}/${id}`, { size });
    await offer(200);
    const reply = await grow('151GiB');
    expect(refusal(reply)).toEqual([409, 'conflict']);
    expect(reply.body.message).toContain('has no room for a size of 151GiB');
    expect((await get(`${disks}/${id}`)).body).toMatchObject({ size: '100GiB', state: 'ready' });
    expect((await grow('150GiB')).status).toBe(200);
    await finishDisk(api.sql, id);
    await offer(null);
    expect((await grow('2TiB')).status).toBe(200);
  });

  it('waits for a VM that is being placed on the host, and counts its disk', async () => {
    const [host] = await addHosts(api.sql, 1);
    const hostId = host?.id ?? '';
    const id = await makeDisk('beside-a-new-vm');
    const { vmId, diskId } = await makeOsDisk('new-beside-a-disk');
    await api.sql`update disks set host_id = ${hostId} where id = ${id}`;
    await api.sql`update disks set host_id = null where id = ${diskId}`;
    await api.sql`update hosts set storage_gib = 300 where id = ${hostId}`;
    const { growing } = await api.sql.begin(async (tx) => {
      await placeVm(tx, { vmId, hostId });
      const request = call('PATCH', `${disks}/${id}`, { size: '200GiB' });
      await vi.waitFor(
        async () => {
          const blocked = await api.sql`select from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock'`;
          expect(blocked).toHaveLength(1);
        },
        { timeout: 30_000 },
      );
      return { growing: request };
    });
    expect(refusal(await growing)).toEqual([409, 'conflict']);
  });

  it('is not refused for a shared volume, whose storage may be elsewhere', async () => {
    const [host] = await addHosts(api.sql, 1);
    const id = await makeDisk('shared-on-small-host', { type: 'shared-volume' });
    await api.sql`update disks set host_id = ${host?.id ?? ''} where id = ${id}`;
    await api.sql`update hosts set storage_gib = 1 where id = ${host?.id ?? ''}`;
    expect((await call('PATCH', `${disks}/${id}`, { size: '1TiB' })).status).toBe(200);
  });
});

describe('deleting a disk', () => {
  it('is an operation whose result is the last state of the disk', async () => {
    const id = await makeDisk('doomed');
    const { body: reply } = await call('DELETE', `${disks}/${id}`);
    expect(reply.operation.metadata).toMatchObject({ operation_name: 'DELETE', id, request: {} });
    expect((await get(`${disks}/${id}`)).body.state).toBe('deleting');
    await finishDisk(api.sql, id);
    expect((await get(`${disks}/${id}`)).status).toBe(404);
    const done = await get(`${disks}/operations/${reply.operation.operation_id}`);
    expect(done.body).toMatchObject({ state: 'SUCCEEDED', result: { id, name: 'doomed' } });
  });

  it('can be repeated after a failure, while other changes are refused', async () => {
    const id = await makeDisk('stubborn');
    await call('DELETE', `${disks}/${id}`);
    await failOperation(api.sql, id);
    const grown = await call('PATCH', `${disks}/${id}`, { size: '1TiB' });
    expect(refusal(grown)).toEqual([409, 'conflict']);
    expect((await call('DELETE', `${disks}/${id}`)).status).toBe(200);
  });
});

describe('a disk that is busy or an OS disk', () => {
  it('refuses every write while an operation is unfinished, in any state', async () => {
    const { body: reply } = await call('POST', disks, body('busy'));
    const path = `${disks}/${reply.operation.metadata.id}`;
    const expected = [409, 'operation_in_progress'];
    expect(refusal(await call('PATCH', path, { size: '1GiB' }))).toEqual(expected);
    expect(refusal(await call('DELETE', path))).toEqual(expected);
  });

  it('accepts one of two concurrent changes', async () => {
    const id = await makeDisk('raced');
    const replies = await Promise.all(
      ['1TiB', '2TiB', '3TiB'].map((size) => call('PATCH', `${disks}/${id}`, { size })),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
  });

  it('cannot be resized or deleted if it is the OS disk of a VM', async () => {
    const { diskId } = await makeOsDisk('with-os-disk');
    const expected = [409, 'disk_attached'];
    const resized = await call('PATCH', `${disks}/${diskId}`, { size: '1TiB' });
    expect(refusal(resized)).toEqual(expected);
    expect(refusal(await call('DELETE', `${disks}/${diskId}`))).toEqual(expected);
  });
});
