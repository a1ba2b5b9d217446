import type { Queryable } from '@gantry/db/connect';
import { newId } from '@gantry/model/ids';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  type Answer,
  makeTenant,
  makeUser,
  SSH_PUBLIC_KEY,
  startTestApi,
  type TestApi,
  type TestTenant,
  type TestUser,
} from '../testing.ts';
import { joinHost, placeVm, unplaceVm } from '../testing-hosts.ts';

let api: TestApi;
let acme: TestTenant;
let operator: TestUser;

beforeAll(async () => {
  api = await startTestApi();
  acme = await makeTenant(api, 'acme');
  operator = await makeUser(api, 'operator@gantry.test', { operator: true });
});
afterAll(() => api.stop());

const admin = (method: string, path: string, headers: Record<string, string> = {}) =>
  api.call(method, `/admin/hosts${path}`, { bearer: operator.token, headers });
const act = (hostId: string, verb: string) => admin('POST', `/${hostId}:${verb}`);

async function createVm(name: string): Promise<string> {
  const { body } = await api.call('POST', `/projects/${acme.projectId}/vms`, {
    bearer: acme.accessKey,
    body: {
      ...{ name, type: 'a40.1x', location: 'eu-north-a', image: 'debian-12' },
      ssh_public_key: SSH_PUBLIC_KEY,
    },
  });
  return body.operation.metadata.id;
}

/** Starts a request while a transaction is open that it must wait for, then commits. */
async function whileOpen(
  write: (tx: Queryable) => Promise<void>,
  request: () => Promise<Answer>,
): Promise<Answer> {
  const { waiting } = await api.sql.begin(async (tx) => {
    await write(tx);
    const started = request();
    await vi.waitFor(
      async () => {
        const blocked = await api.sql`select from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`;
        expect(blocked).toHaveLength(1);
      },
      { timeout: 30_000 },
    );
    return { waiting: started };
  });
  return await waiting;
}

describe('a host', () => {
  it('is shown with its devices and the VMs that have them', async () => {
    const host = await joinHost(api.sql, { name: 'shown' });
    const vmId = await createVm('on-shown');
    const [gpuId = '', freeGpuId = ''] = host.gpuIds;
    const [driveId = '', freeDriveId = ''] = host.driveIds;
    await placeVm(api.sql, { vmId, hostId: host.id, gpuIds: [gpuId], driveIds: [driveId] });
    const { status, body } = await admin('GET', `/${host.id}`);
    expect(status).toBe(200);
    const gpu = { model: 'A40 48GB PCIe', state: 'ready', quarantine_reason: '' };
    const drive = { size_gb: 960, state: 'ready', quarantine_reason: '' };
    expect(body).toEqual({
      ...{ id: host.id, name: 'shown', location: 'eu-north-a', state: 'ready' },
      ...{ admin_state: 'active', last_seen_at: '', created_at: expect.stringMatching(/Z$/) },
      gpus: [
        { ...gpu, id: gpuId, pci_address: '0000:10:00.0', numa_node: 0, vm_id: vmId },
        { ...gpu, id: freeGpuId, pci_address: '0000:11:00.0', numa_node: 1, vm_id: '' },
      ],
      drives: [
        { ...drive, id: driveId, pci_address: '0000:80:00.0', numa_node: 0, vm_id: vmId },
        { ...drive, id: freeDriveId, pci_address: '0000:81:00.0', numa_node: 1, vm_id: '' },
      ],
      vm_count: 1,
    });
    await api.sql`update hosts set last_seen_at = '2030-01-31T12:00:00.5Z' where id = ${host.id}`;
    expect((await admin('GET', `/${host.id}`)).body.last_seen_at).toBe('2030-01-31T12:00:00.500Z');
  });

  it('without devices has empty lists', async () => {
    const { id } = await joinHost(api.sql, { name: 'bare', gpus: 0 });
    expect((await admin('GET', `/${id}`)).body).toMatchObject({
      gpus: [],
      drives: [],
      vm_count: 0,
    });
  });

  it.each([
    ['GET', ''],
    ['DELETE', ''],
    ['POST', ':cordon'],
    ['POST', ':uncordon'],
    ['POST', ':drain'],
  ])('that is not there is not found: %s %s', async (method, verb) => {
    const nowhere = await admin(method, `/${newId()}${verb}`);
    expect([nowhere.status, nowhere.body.code]).toEqual([404, 'not_found']);
    const malformed = await admin(method, `/seven${verb}`);
    expect(malformed.status).toBe(400);
    expect(malformed.body.details).toMatchObject([{ field: 'host_id' }]);
  });
});

describe('the list of hosts', () => {
  it('is filtered by location, state and admin state, and paged', async () => {
    const names = ['list-a', 'list-b', 'list-c'];
    for (const name of names) await joinHost(api.sql, { name, location: 'us-east-a' });
    const list = async (query: string) => (await admin('GET', `?location=us-east-a${query}`)).body;
    const namesOf = ({ items }: { items: { name: string }[] }) => items.map(({ name }) => name);
    expect(namesOf(await list(''))).toEqual(names);

    const first = await list('&limit=2');
    expect(namesOf(first)).toEqual(['list-a', 'list-b']);
    const second = await list(`&limit=2&page_token=${first.next_page_token}`);
    expect(namesOf(second)).toEqual(['list-c']);
    expect(second.next_page_token).toBe('');

    await api.sql`update hosts set state = 'unreachable' where name = 'list-b'`;
    await act(first.items[0].id, 'cordon');
    expect(namesOf(await list('&state=unreachable'))).toEqual(['list-b']);
    expect(namesOf(await list('&state=ready'))).toEqual(['list-a', 'list-c']);
    expect(namesOf(await list('&admin_state=cordoned'))).toEqual(['list-a']);
    expect(namesOf(await list('&state=ready&admin_state=active'))).toEqual(['list-c']);
    expect(namesOf((await admin('GET', '?location=mars')).body)).toEqual([]);
  });

  it.each(['state=cordoned', 'admin_state=ready', 'limit=0', 'name=x'])(
    'refuses ?%s',
    async (query) => {
      const { status, body } = await admin('GET', `?${query}`);
      expect(status).toBe(400);
      expect(body.details).toMatchObject([{ field: query.split('=')[0] }]);
    },
  );
});

describe('what operators want of a host', () => {
  it('is kept beside its state, and wanting it twice is no different', async () => {
    const { id } = await joinHost(api.sql, { name: 'wanted' });
    await api.sql`update hosts set state = 'unreachable' where id = ${id}`;
    for (const [verb, admin_state] of [
      ['cordon', 'cordoned'],
      ['uncordon', 'active'],
      ['drain', 'draining'],
      ['cordon', 'cordoned'],
      ['drain', 'draining'],
      ['uncordon', 'active'],
    ] as const) {
      const first = await act(id, verb);
      expect(first.status).toBe(200);
      expect(first.body).toMatchObject({ id, state: 'unreachable', admin_state });
      expect((await act(id, verb)).body).toEqual(first.body);
      expect((await admin('GET', `/${id}`)).body).toMatchObject({ admin_state });
    }
  });

  it('is the same reply again for the same Idempotency-Key', async () => {
    const { id } = await joinHost(api.sql, { name: 'once' });
    const headers = { 'idempotency-key': 'cordon-once' };
    const first = await admin('POST', `/${id}:cordon`, headers);
    await act(id, 'uncordon');
    expect((await admin('POST', `/${id}:cordon`, headers)).body).toEqual(first.body);
    expect((await admin('GET', `/${id}`)).body.admin_state).toBe('active');
    const other = await admin('POST', `/${id}:drain`, headers);
    expect(other.body.code).toBe('idempotency_key_reused');
  });

  it('is in the audit log with the host it concerns', async () => {
    const { id } = await joinHost(api.sql, { name: 'audited' });
    await act(id, 'drain');
    const lines = await api.sql`select actor_id, resource_type, resource_id from audit_logs
      where action = 'admin-hosts.drain' and resource_id = ${id}`;
    expect(lines).toMatchObject([{ actor_id: operator.id, resource_type: 'admin-hosts' }]);
  });

  it('lists, for a drain, what is left, until nothing is', async () => {
    const { id } = await joinHost(api.sql, { name: 'draining' });
    const elsewhere = await joinHost(api.sql, { name: 'not-draining' });
    const vmIds = [await createVm('left-1'), await createVm('left-2')];
    for (const vmId of vmIds) await placeVm(api.sql, { vmId, hostId: id });
    await placeVm(api.sql, { vmId: await createVm('not-left'), hostId: elsewhere.id });
    const vm = { project_id: acme.projectId, state: 'STATE_CREATING' };
    const { body } = await act(id, 'drain');
    expect(body).toEqual({
      ...(await admin('GET', `/${id}`)).body,
      remaining_vms: [
        { ...vm, id: vmIds[0], name: 'left-1' },
        { ...vm, id: vmIds[1], name: 'left-2' },
      ],
    });
    expect(body.vm_count).toBe(2);
    // Draining asks nothing of the VMs.
    const [untouched] = await api.sql`select count(*)::integer as vms from vms
      where id = any(${vmIds}::uuid[]) and desired_state = 'running' and generation = 1`;
    expect(untouched?.['vms']).toBe(2);
    for (const vmId of vmIds) await unplaceVm(api.sql, vmId);
    expect((await act(id, 'drain')).body).toMatchObject({ remaining_vms: [], vm_count: 0 });
  });
});

describe('removing a host', () => {
  it('is refused while a VM is placed there, and takes its devices with it after', async () => {
    const { id, gpuIds } = await joinHost(api.sql, { name: 'removed' });
    const vmId = await createVm('on-removed');
    await placeVm(api.sql, { vmId, hostId: id, gpuIds: gpuIds.slice(0, 1) });
    const refused = await admin('DELETE', `/${id}`);
    expect([refused.status, refused.body.code]).toEqual([409, 'conflict']);
    const before = (await admin('GET', `/${id}`)).body;
    expect(before.gpus).toHaveLength(2);

    await unplaceVm(api.sql, vmId);
    const last = (await admin('GET', `/${id}`)).body;
    const removed = await admin('DELETE', `/${id}`);
    expect([removed.status, removed.body]).toEqual([200, last]);
    expect((await admin('GET', `/${id}`)).status).toBe(404);
    expect((await admin('DELETE', `/${id}`)).status).toBe(404);
    const left = await api.sql`select id from gpus where host_id = ${id}
      union all select id from drives where host_id = ${id}`;
    expect(left).toEqual([]);
  });

  it('is refused when a VM is placed there at the same moment', async () => {
    const { id } = await joinHost(api.sql, { name: 'raced' });
    const vmId = await createVm('on-raced');
    const refused = await whileOpen(
      (tx) => placeVm(tx, { vmId, hostId: id }),
      () => admin('DELETE', `/${id}`),
    );
    expect([refused.status, refused.body.code]).toEqual([409, 'conflict']);
    expect(refused.body.message).toContain('drain');
    expect((await admin('GET', `/${id}`)).body.vm_count).toBe(1);
  });

  it('keeps the join token it came in with', async () => {
    const { id } = await joinHost(api.sql, { name: 'joined' });
    const { body: token } = await api.call('POST', '/admin/join-tokens', {
      ...{ bearer: operator.token, body: { location: 'eu-north-a' } },
    });
    await api.sql`update join_tokens set used_at = now(), host_id = ${id} where id = ${token.id}`;
    expect((await admin('DELETE', `/${id}`)).status).toBe(200);
    const kept = await api.sql`select host_id, used_at from join_tokens where id = ${token.id}`;
    expect(kept).toEqual([{ host_id: null, used_at: expect.any(Date) }]);
  });
});

it('the scheduler cannot write what only operators want into the state of a host', async () => {
  const { id } = await joinHost(api.sql, { name: 'checked' });
  for (const state of ['cordoned', 'draining']) {
    await expect(api.sql`update hosts set state = ${state} where id = ${id}`).rejects.toMatchObject(
      { constraint_name: 'hosts_state' },
    );
  }
  await expect(
    api.sql`update hosts set admin_state = 'fenced' where id = ${id}`,
  ).rejects.toMatchObject({ constraint_name: 'hosts_admin_state' });
});
