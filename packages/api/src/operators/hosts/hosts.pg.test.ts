import type { Queryable } from '@gantry/db/connect';
import { newId } from '@gantry/model/ids';
import { type Reply, startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { addHost, certifyHost, connectHost } from '@gantry/testkit/make/hosts';
import { placeVm, unplaceVms } from '@gantry/testkit/make/placements';
import {
  makeTenant,
  makeUser,
  SSH_PUBLIC_KEY,
  type TestTenant,
  type TestUser,
} from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

let api: TestApi;
let acme: TestTenant;
let operator: TestUser;

beforeAll(async () => {
  api = await startTestApi();
  acme = await makeTenant(api, 'acme');
  operator = await makeUser(api, 'operator@gantry.test', { operator: true });
});
afterAll(() => api.stop());

const admin = (
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: unknown,
) => api.call(method, `/admin/hosts${path}`, { bearer: operator.token, headers, body });
const act = (hostId: string, verb: string) => admin('POST', `/${hostId}:${verb}`);
const fence = (hostId: string, confirm: string) =>
  admin('POST', `/${hostId}:fence`, {}, { confirm });
const show = async (hostId: string) => (await admin('GET', `/${hostId}`)).body;
/** Returns the VMs of all tests that have an event of the type, oldest event first. */
const notifiedOf = async (type: string) =>
  (await api.sql`select resource_id from events where type = ${type} order by id`).map(
    (row) => row['resource_id'],
  );

const NOTHING_KNOWN = {
  driver: '',
  reset_methods: [],
  link_speed_gts: -1,
  max_link_speed_gts: -1,
  link_width: -1,
  max_link_width: -1,
  correctable_errors: -1,
  nonfatal_errors: -1,
  fatal_errors: -1,
};

async function createVm(name: string, tenant = acme): Promise<string> {
  const { body } = await api.call('POST', `/projects/${tenant.projectId}/vms`, {
    bearer: tenant.accessKey,
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

/** Starts a request while a transaction is open that it must wait for, then commits. */
async function whileOpen(
  write: (tx: Queryable) => Promise<void>,
  request: () => Promise<Reply>,
): Promise<Reply> {
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

/** As gRPC decodes it: 64-bit numbers are text, and unset messages are null. */
const INVENTORY = {
  storagePools: [
    {
      name: '/var/lib/gantry-data/volumes',
      diskKinds: ['DISK_KIND_PERSISTENT_SSD', 'DISK_KIND_SHARED_VOLUME'],
      sizeBytes: String(1000 * 1024 ** 3),
      freeBytes: String(412.7 * 1024 ** 3),
      offeredBytes: String(1950 * 1024 ** 3),
    },
  ],
  software: {
    ...{ os: 'Debian 12', kernel: '6.1.0', firmware: '2.4', libvirt: '9.0.0', agent: '0.1.0' },
    capabilities: ['needs'],
  },
  devices: [
    {
      kind: 'gpu',
      address: '0000:10:00.0',
      driver: 'vfio-pci',
      resetMethods: ['flr', 'bus'],
      link: { speedGts: 2.5, maxSpeedGts: 16, width: 8, maxWidth: 16 },
      aer: { correctable: '12', nonfatal: '0', fatal: '1' },
    },
    {
      kind: 'drive',
      address: '0000:80:00.0',
      driver: 'nvme',
      resetMethods: ['flr'],
      link: null,
      aer: null,
    },
  ],
};

describe('a host', () => {
  it('is shown with its devices and the VMs that have them', async () => {
    const host = await addHost(api.sql, { name: 'shown', reported: false });
    const vmId = await createVm('on-shown');
    const [gpuId = '', freeGpuId = ''] = host.gpuIds;
    const [driveId = '', freeDriveId = ''] = host.driveIds;
    await placeVm(api.sql, { vmId, hostId: host.id, devices: [gpuId, driveId] });
    const { status, body } = await admin('GET', `/${host.id}`);
    expect(status).toBe(200);
    const device = {
      state: 'ready',
      state_reason: '',
      quarantine_reason: '',
      problems: [],
      health: NOTHING_KNOWN,
    };
    const place = { pcie_switch: '', iommu_group: -1, nvlink_peer: '' };
    const gpu = { ...device, ...place, model: 'A40 48GB PCIe' };
    const drive = { ...device, size_gb: 960, serial: '', uses: [] };
    expect(body).toEqual({
      id: host.id,
      name: 'shown',
      location: 'eu-north-a',
      state: 'ready',
      admin_state: 'active',
      last_seen_at: '',
      created_at: expect.stringMatching(/Z$/),
      connected: false,
      fenced_at: '',
      agent_version: '',
      agent_capabilities: [],
      shared_storage: false,
      enforces_bandwidth: false,
      lacks_nesting: false,
      software: { os: '', kernel: '', firmware: '', libvirt: '', command_line: '', iommu: '' },
      drift: [],
      labels: {},
      // One for the new host and one for the VM.
      wanted_number: 2,
      accepted_number: 0,
      refusal: '',
      trouble: '',
      unknown_vms: [],
      unresponsive_vms: [],
      storage_pools: [],
      storage_address: '',
      storage_fences: [],
      storage_fence_problem: '',
      // The OS disk of the VM.
      disks_gib: 128,
      numa_nodes: [],
      gpus: [
        { ...gpu, id: gpuId, pci_address: '0000:10:00.0', numa_node: 0, vm_id: vmId },
        { ...gpu, id: freeGpuId, pci_address: '0000:11:00.0', numa_node: 1, vm_id: '' },
      ],
      drives: [
        { ...drive, id: driveId, pci_address: '0000:80:00.0', numa_node: 0, vm_id: vmId },
        { ...drive, id: freeDriveId, pci_address: '0000:81:00.0', numa_node: 1, vm_id: '' },
      ],
      vm_count: 1,
      certificates: [],
      vms: [{ id: vmId, project_id: acme.projectId, name: 'on-shown', state: 'STATE_CREATING' }],
    });
    const { certificates: _certificates, vms: _vms, ...inList } = body;
    expect((await admin('GET', '?limit=1000')).body.items).toContainEqual(inList);
  });

  it('is shown as its agent last reported it', async () => {
    const silent = [
      { vmId: 'vm-1', message: 'no reply', since: '2026-01-02T03:04:05.678Z' },
      { vmId: 'vm-2', message: 'no reply', since: null },
    ];
    const { id, gpuIds, driveIds } = await addHost(api.sql, { name: 'reported' });
    await api.sql`update hosts set inventory = ${api.sql.json(INVENTORY)}, shared_storage = true,
      accepted_number = 9007199254740991, refusal = 'two VMs want one GPU', unknown_vms = ${['stray', 'a "b" c']}::text[],
      unresponsive_vms = ${api.sql.json(silent)},
      numa_nodes = ${api.sql.json([{ node: 1, cores: 24, memoryMib: 245760, networkGbps: 12.5 }])}
      where id = ${id}`;
    await api.sql`update devices set pcie_switch = '0000:0f:00.0', iommu_group = 0,
      nvlink_peer = '0000:11:00.0' where id = ${gpuIds[0] ?? ''}`;
    await api.sql`update devices set serial = 'S6XN' where id = ${driveIds[0] ?? ''}`;
    const host = await show(id);
    expect(host).toMatchObject({
      agent_version: '0.1.0',
      agent_capabilities: ['needs'],
      software: { os: 'Debian 12', kernel: '6.1.0', firmware: '2.4', libvirt: '9.0.0' },
      shared_storage: true,
      storage_pools: [
        {
          name: '/var/lib/gantry-data/volumes',
          disk_types: ['persistent-ssd', 'shared-volume'],
          ...{ size_gib: 1000, free_gib: 412, offered_gib: 1950 },
        },
      ],
      disks_gib: 0,
      accepted_number: 9007199254740991,
      refusal: 'two VMs want one GPU',
      unknown_vms: ['stray', 'a "b" c'],
      unresponsive_vms: [
        { vm_id: 'vm-1', message: 'no reply', since: '2026-01-02T03:04:05.678Z' },
        { vm_id: 'vm-2', message: 'no reply', since: '' },
      ],
      numa_nodes: [{ node: 1, cores: 24, memory_mib: 245760, network_gbps: 12.5 }],
    });
    const place = { pcie_switch: '0000:0f:00.0', iommu_group: 0, nvlink_peer: '0000:11:00.0' };
    const health = {
      driver: 'vfio-pci',
      reset_methods: ['flr', 'bus'],
      link_speed_gts: 2.5,
      max_link_speed_gts: 16,
      link_width: 8,
      max_link_width: 16,
      correctable_errors: 12,
      nonfatal_errors: 0,
      fatal_errors: 1,
    };
    expect(host.gpus).toMatchObject([{ ...place, health }, { health: NOTHING_KNOWN }]);
    expect(host.drives).toMatchObject([
      { serial: 'S6XN', health: { ...NOTHING_KNOWN, driver: 'nvme', reset_methods: ['flr'] } },
      { serial: '', health: NOTHING_KNOWN },
    ]);
    expect(host.software).not.toHaveProperty('agent');
    expect(host.software).toMatchObject({ command_line: '', iommu: '' });
  });

  it('is connected while the scheduler with its stream is alive', async () => {
    const { id } = await addHost(api.sql, { name: 'connected' });
    await api.sql`update hosts set last_seen_at = '2020-01-31T12:00:00.5Z' where id = ${id}`;
    expect(await show(id)).toMatchObject({
      connected: false,
      last_seen_at: '2020-01-31T12:00:00.500Z',
    });
    const seenBy = async (schedulerId: string) => {
      const [row] = await api.sql`select last_seen_at from schedulers where id = ${schedulerId}`;
      return row?.['last_seen_at'].toISOString();
    };
    const live = await connectHost(api.sql, { hostId: id, secondsAgo: 5 });
    expect(await show(id)).toMatchObject({ connected: true, last_seen_at: await seenBy(live) });
    const silent = await connectHost(api.sql, { hostId: id, secondsAgo: 16 });
    expect(await show(id)).toMatchObject({ connected: false, last_seen_at: await seenBy(silent) });
    // A host of a dead scheduler is not connected.
    await api.sql`delete from schedulers where id = ${silent}`;
    expect(await show(id)).toMatchObject({
      connected: false,
      last_seen_at: '2020-01-31T12:00:00.500Z',
    });
  });

  it('has empty lists if it has no devices', async () => {
    const { id } = await addHost(api.sql, { name: 'bare', gpus: 0 });
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
    ['POST', ':accept'],
    ['POST', ':fence', { confirm: 'x' }],
    ['POST', ':revoke-certificates'],
  ])('is not_found if it does not exist: %s %s', async (method, verb, body?: unknown) => {
    const nowhere = await admin(method, `/${newId()}${verb}`, {}, body);
    expect([nowhere.status, nowhere.body.code]).toEqual([404, 'not_found']);
    const malformed = await admin(method, `/seven${verb}`, {}, body);
    expect(malformed.status).toBe(400);
    expect(malformed.body.details).toMatchObject([{ field: 'host_id' }]);
  });
});

describe('the list of hosts', () => {
  it('is filtered by location, state and admin state, and paged', async () => {
    const names = ['list-a', 'list-b', 'list-c'];
    for (const name of names) await addHost(api.sql, { name, location: 'us-east-a' });
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

describe('the administrative state of a host', () => {
  it('is independent of the observed state, and setting it twice changes nothing', async () => {
    const { id } = await addHost(api.sql, { name: 'wanted' });
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

  it('returns the same reply for the same Idempotency-Key', async () => {
    const { id } = await addHost(api.sql, { name: 'once' });
    const headers = { 'idempotency-key': 'cordon-once' };
    const first = await admin('POST', `/${id}:cordon`, headers);
    await act(id, 'uncordon');
    expect((await admin('POST', `/${id}:cordon`, headers)).body).toEqual(first.body);
    expect((await admin('GET', `/${id}`)).body.admin_state).toBe('active');
    const other = await admin('POST', `/${id}:drain`, headers);
    expect(other.body.code).toBe('idempotency_key_reused');
  });

  it('is in the audit log with its host', async () => {
    const { id } = await addHost(api.sql, { name: 'audited' });
    await act(id, 'drain');
    const lines = await api.sql`select actor_id, resource_type, resource_id from audit_logs
      where action = 'admin-hosts.drain' and resource_id = ${id}`;
    expect(lines).toMatchObject([{ actor_id: operator.id, resource_type: 'admin-hosts' }]);
  });

  it('lists the VMs that are left during a drain', async () => {
    const { id } = await addHost(api.sql, { name: 'draining' });
    const elsewhere = await addHost(api.sql, { name: 'not-draining' });
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
    // Draining does not stop VMs.
    const [untouched] = await api.sql`select count(*)::integer as vms from vms
      where id = any(${vmIds}::uuid[]) and desired_state = 'running' and generation = 1`;
    expect(untouched?.['vms']).toBe(2);
    for (const vmId of vmIds) await unplaceVms(api.sql, [vmId]);
    expect((await act(id, 'drain')).body).toMatchObject({ remaining_vms: [], vm_count: 0 });
  });
});

describe('a host that drifted', () => {
  const facts = { kernel: '6.1.0-26' };
  const drifted = ['kernel: 6.1.0-25 → 6.1.0-26'];
  const drift = (hostId: string) =>
    api.sql`update hosts set facts = ${api.sql.json(facts)}, drift = ${drifted},
      accepted_facts = ${api.sql.json({ kernel: '6.1.0-25' })} where id = ${hostId}`;
  const accepted = async (hostId: string) =>
    (await api.sql`select accepted_facts from hosts where id = ${hostId}`)[0]?.['accepted_facts'];

  it('shows its drift, alone and in the list, until an operator accepts it', async () => {
    const { id } = await addHost(api.sql, { name: 'drifted' });
    await drift(id);
    const { body } = await admin('GET', '?limit=1000');
    expect(body.items).toContainEqual(expect.objectContaining({ id, drift: drifted }));
    expect(await show(id)).toMatchObject({ drift: drifted });
    const first = await act(id, 'accept');
    expect([first.status, first.body.drift]).toEqual([200, []]);
    expect(await accepted(id)).toEqual(facts);
    expect((await act(id, 'accept')).body).toEqual(first.body);
    const lines = await api.sql`select actor_id from audit_logs
      where action = 'admin-hosts.accept' and resource_id = ${id}`;
    expect(lines).toMatchObject([{ actor_id: operator.id }, { actor_id: operator.id }]);
  });

  it('cannot be accepted before its first report', async () => {
    const { id } = await addHost(api.sql, { name: 'silent' });
    const { status, body } = await act(id, 'accept');
    expect([status, body.code]).toEqual([409, 'conflict']);
    expect(body.message).toContain('has not reported its hardware yet');
    expect(await accepted(id)).toBeNull();
  });
});

describe('a drain', () => {
  it('notifies the tenants of every VM on the host, once until it ends', async () => {
    const { id } = await addHost(api.sql, { name: 'told' });
    const elsewhere = await addHost(api.sql, { name: 'untold' });
    const globex = await makeTenant(api, 'globex');
    const vmIds = [await createVm('told-1'), await createVm('told-2', globex)];
    for (const vmId of vmIds) await placeVm(api.sql, { vmId, hostId: id });
    await placeVm(api.sql, { vmId: await createVm('not-told'), hostId: elsewhere.id });
    const told = async () =>
      (await notifiedOf('vm_host_draining')).filter((vmId) => vmIds.includes(vmId)).toSorted();
    const before = (await notifiedOf('vm_host_draining')).length;

    for (const verb of ['drain', 'drain']) await act(id, verb);
    expect(await told()).toEqual(vmIds);
    expect(await notifiedOf('vm_host_draining')).toHaveLength(before + 2);
    const { body } = await api.call('GET', `/projects/${globex.projectId}/events`, {
      bearer: globex.accessKey,
    });
    expect(body.items).toMatchObject([
      { type: 'vm_host_draining', resource_type: 'vm', resource_id: vmIds[1] },
    ]);
    expect(body.items[0].message).not.toContain('told');

    for (const verb of ['uncordon', 'drain', 'drain', 'cordon', 'drain']) await act(id, verb);
    expect(await told()).toEqual(vmIds.flatMap((vmId) => [vmId, vmId, vmId]));
  });

  it('notifies no one if it is refused', async () => {
    const { id } = await addHost(api.sql, { name: 'refused' });
    const vmId = await createVm('on-refused');
    await placeVm(api.sql, { vmId, hostId: id });
    const headers = { 'idempotency-key': 'drain-refused' };
    await admin('POST', `/${id}:uncordon`, headers);
    expect((await admin('POST', `/${id}:drain`, headers)).status).toBe(409);
    expect(await notifiedOf('vm_host_draining')).not.toContain(vmId);
  });

  it('notifies the tenant of a VM that is placed at the same time', async () => {
    const { id } = await addHost(api.sql, { name: 'raced-drain' });
    const vmId = await createVm('on-raced-drain');
    const drained = await whileOpen(
      (tx) => placeVm(tx, { vmId, hostId: id }),
      () => act(id, 'drain'),
    );
    expect(drained.body.remaining_vms).toMatchObject([{ id: vmId }]);
    expect(await notifiedOf('vm_host_draining')).toContain(vmId);
  });
});

describe('fencing a host', () => {
  it('marks it as dead and revokes its certificates, and is idempotent', async () => {
    const { id } = await addHost(api.sql, { name: 'dead' });
    const vmId = await createVm('on-dead');
    await placeVm(api.sql, { vmId, hostId: id });
    const serial = await certifyHost(api.sql, id);
    const other = await addHost(api.sql, { name: 'alive' });
    await certifyHost(api.sql, other.id);
    const fenced = await fence(id, 'dead');
    expect(fenced.status).toBe(200);
    expect(fenced.body).toMatchObject({
      id,
      fenced_at: expect.stringMatching(/Z$/),
      state: 'ready',
      vm_count: 1,
      certificates: [{ serial, revoked_at: expect.stringMatching(/Z$/) }],
    });
    expect((await fence(id, 'dead')).body).toEqual(fenced.body);
    expect(await show(id)).toEqual(fenced.body);
    // Only the scheduler releases claims: the VM is still placed, so the host cannot be removed.
    expect((await admin('DELETE', `/${id}`)).status).toBe(409);
    expect(await show(other.id)).toMatchObject({
      fenced_at: '',
      certificates: [{ revoked_at: '' }],
    });
  });

  it.each(['', 'Careful', 'careful ', 'other'])(
    'is refused if the confirmation is not its name: "%s"',
    async (confirm) => {
      const [known] = await api.sql`select id from hosts where name = 'careful'`;
      const id = known?.['id'] ?? (await addHost(api.sql, { name: 'careful' })).id;
      const before = await show(id);
      const refused = await fence(id, confirm);
      expect(refused.status).toBe(400);
      expect(refused.body.details).toEqual([
        { field: 'confirm', reason: 'must be the name of the host' },
      ]);
      expect(await show(id)).toEqual(before);
    },
  );

  it('is refused without a confirmation', async () => {
    const { id } = await addHost(api.sql, { name: 'unconfirmed' });
    for (const body of [undefined, {}, { confirm: 7 }, { confirm: 'unconfirmed', force: true }]) {
      expect((await admin('POST', `/${id}:fence`, {}, body)).status).toBe(400);
    }
    expect((await show(id)).fenced_at).toBe('');
  });

  it('is refused while it is connected', async () => {
    const { id } = await addHost(api.sql, { name: 'talking' });
    await certifyHost(api.sql, id);
    const schedulerId = await connectHost(api.sql, { hostId: id });
    const refused = await fence(id, 'talking');
    expect([refused.status, refused.body.code]).toEqual([409, 'conflict']);
    expect(refused.body.message).toMatch(/shut it down or revoke its certificates/);
    expect(await show(id)).toMatchObject({ fenced_at: '', certificates: [{ revoked_at: '' }] });
    await api.sql`update schedulers set last_seen_at = now() - interval '1 minute'
      where id = ${schedulerId}`;
    expect((await fence(id, 'talking')).status).toBe(200);
  });

  it('is refused if the host connects at the same time', async () => {
    const { id } = await addHost(api.sql, { name: 'just-talking' });
    const refused = await whileOpen(
      async (tx) => void (await connectHost(tx, { hostId: id })),
      () => fence(id, 'just-talking'),
    );
    expect([refused.status, refused.body.code]).toEqual([409, 'conflict']);
    expect((await show(id)).fenced_at).toBe('');
  });
});

describe("revoking a host's certificates", () => {
  it('revokes all current ones and keeps earlier revocations, connected or not', async () => {
    const { id } = await addHost(api.sql, { name: 'revoked' });
    const serials = [await certifyHost(api.sql, id), await certifyHost(api.sql, id)].toSorted();
    await connectHost(api.sql, { hostId: id });
    await api.sql`update host_certificates set revoked_at = '2029-06-30T12:00:00Z'
      where serial = ${serials[0] ?? ''}`;
    const times = { not_after: '2030-01-31T12:00:00.000Z', created_at: '2029-01-31T12:00:00.000Z' };
    expect((await show(id)).certificates).toEqual([
      { ...times, serial: serials[0], revoked_at: '2029-06-30T12:00:00.000Z' },
      { ...times, serial: serials[1], revoked_at: '' },
    ]);
    const revoked = await act(id, 'revoke-certificates');
    expect(revoked.status).toBe(200);
    expect(revoked.body.certificates).toEqual([
      { ...times, serial: serials[0], revoked_at: '2029-06-30T12:00:00.000Z' },
      { ...times, serial: serials[1], revoked_at: expect.stringMatching(/Z$/) },
    ]);
    expect(revoked.body.fenced_at).toBe('');
    const again = await act(id, 'revoke-certificates');
    expect(again.body.certificates).toEqual(revoked.body.certificates);
  });
});

describe('removing a host', () => {
  it('is refused while a VM is placed on it, and later removes its devices too', async () => {
    const { id, gpuIds } = await addHost(api.sql, { name: 'removed' });
    const vmId = await createVm('on-removed');
    await placeVm(api.sql, { vmId, hostId: id, devices: gpuIds.slice(0, 1) });
    const refused = await admin('DELETE', `/${id}`);
    expect([refused.status, refused.body.code]).toEqual([409, 'conflict']);
    const before = (await admin('GET', `/${id}`)).body;
    expect(before.gpus).toHaveLength(2);

    await unplaceVms(api.sql, [vmId]);
    const last = (await admin('GET', `/${id}`)).body;
    const removed = await admin('DELETE', `/${id}`);
    expect([removed.status, removed.body]).toEqual([200, last]);
    expect((await admin('GET', `/${id}`)).status).toBe(404);
    expect((await admin('DELETE', `/${id}`)).status).toBe(404);
    const left = await api.sql`select id from devices where host_id = ${id}`;
    expect(left).toEqual([]);
  });

  it('is refused if a VM is placed on it at the same time', async () => {
    const { id } = await addHost(api.sql, { name: 'raced' });
    const vmId = await createVm('on-raced');
    const refused = await whileOpen(
      (tx) => placeVm(tx, { vmId, hostId: id }),
      () => admin('DELETE', `/${id}`),
    );
    expect([refused.status, refused.body.code]).toEqual([409, 'conflict']);
    expect(refused.body.message).toContain('drain');
    expect((await admin('GET', `/${id}`)).body.vm_count).toBe(1);
  });

  it('is refused while it has the only copy of disks, unless it is fenced', async () => {
    const { id } = await addHost(api.sql, { name: 'keeper' });
    const vmId = await createVm('on-keeper');
    await api.sql`update disks set host_id = ${id} where id in
      (select disk_id from disk_attachments where vm_id = ${vmId})`;
    const refused = await admin('DELETE', `/${id}`);
    expect([refused.status, refused.body.code]).toEqual([409, 'conflict']);
    expect(refused.body.message).toContain('1 disks');
    await api.sql`update hosts set shared_storage = true where id = ${id}`;
    expect((await admin('DELETE', `/${id}`)).status).toBe(200);
  });

  it('keeps the join token of the host', async () => {
    const { id } = await addHost(api.sql, { name: 'joined' });
    const { body: token } = await api.call('POST', '/admin/join-tokens', {
      bearer: operator.token,
      body: { location: 'eu-north-a' },
    });
    await api.sql`update join_tokens set used_at = now(), host_id = ${id} where id = ${token.id}`;
    expect((await admin('DELETE', `/${id}`)).status).toBe(200);
    const kept = await api.sql`select host_id, used_at from join_tokens where id = ${token.id}`;
    expect(kept).toEqual([{ host_id: null, used_at: expect.any(Date) }]);
  });
});

it('the state of a host cannot be set to a value of the administrative state', async () => {
  const { id } = await addHost(api.sql, { name: 'checked' });
  for (const state of ['cordoned', 'draining']) {
    await expect(api.sql`update hosts set state = ${state} where id = ${id}`).rejects.toMatchObject(
      { constraint_name: 'hosts_state' },
    );
  }
  await expect(
    api.sql`update hosts set admin_state = 'fenced' where id = ${id}`,
  ).rejects.toMatchObject({ constraint_name: 'hosts_admin_state' });
});
