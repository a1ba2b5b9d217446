import { newId } from '@gantry/model/ids';
import { addHost, connectHost } from '@gantry/testkit/make/hosts';
import { placeVm } from '@gantry/testkit/make/placements';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HostsWorld, startHostsWorld } from './testing/hosts-world.ts';

let world: HostsWorld;

beforeAll(async () => {
  world = await startHostsWorld();
});
afterAll(() => world.api.stop());

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
    const host = await addHost(world.api.sql, { name: 'shown', reported: false });
    const vmId = await world.createVm('on-shown');
    const [gpuId = '', freeGpuId = ''] = host.gpuIds;
    const [driveId = '', freeDriveId = ''] = host.driveIds;
    await placeVm(world.api.sql, { vmId, hostId: host.id, devices: [gpuId, driveId] });
    const { status, body } = await world.admin('GET', `/${host.id}`);
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
      vms: [
        { id: vmId, project_id: world.acme.projectId, name: 'on-shown', state: 'STATE_CREATING' },
      ],
    });
    const { certificates: _certificates, vms: _vms, ...inList } = body;
    expect((await world.admin('GET', '?limit=1000')).body.items).toContainEqual(inList);
  });

  it('is shown as its agent last reported it', async () => {
    const silent = [
      { vmId: 'vm-1', message: 'no reply', since: '2026-01-02T03:04:05.678Z' },
      { vmId: 'vm-2', message: 'no reply', since: null },
    ];
    const { id, gpuIds, driveIds } = await addHost(world.api.sql, { name: 'reported' });
    await world.api
      .sql`update hosts set inventory = ${world.api.sql.json(INVENTORY)}, shared_storage = true,
      accepted_number = 9007199254740991, refusal = 'two VMs want one GPU', unknown_vms = ${['stray', 'a "b" c']}::text[],
      unresponsive_vms = ${world.api.sql.json(silent)},
      numa_nodes = ${world.api.sql.json([{ node: 1, cores: 24, memoryMib: 245760, networkGbps: 12.5 }])}
      where id = ${id}`;
    await world.api.sql`update devices set pcie_switch = '0000:0f:00.0', iommu_group = 0,
      nvlink_peer = '0000:11:00.0' where id = ${gpuIds[0] ?? ''}`;
    await world.api.sql`update devices set serial = 'S6XN' where id = ${driveIds[0] ?? ''}`;
    const host = await world.show(id);
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
    const { id } = await addHost(world.api.sql, { name: 'connected' });
    await world.api.sql`update hosts set last_seen_at = '2020-01-31T12:00:00.5Z' where id = ${id}`;
    expect(await world.show(id)).toMatchObject({
      connected: false,
      last_seen_at: '2020-01-31T12:00:00.500Z',
    });
    const seenBy = async (schedulerId: string) => {
      const [row] = await world.api
        .sql`select last_seen_at from schedulers where id = ${schedulerId}`;
      return row?.['last_seen_at'].toISOString();
    };
    const live = await connectHost(world.api.sql, { hostId: id, secondsAgo: 5 });
    expect(await world.show(id)).toMatchObject({
      connected: true,
      last_seen_at: await seenBy(live),
    });
    const silent = await connectHost(world.api.sql, { hostId: id, secondsAgo: 16 });
    expect(await world.show(id)).toMatchObject({
      connected: false,
      last_seen_at: await seenBy(silent),
    });
    // A host of a dead scheduler is not connected.
    await world.api.sql`delete from schedulers where id = ${silent}`;
    expect(await world.show(id)).toMatchObject({
      connected: false,
      last_seen_at: '2020-01-31T12:00:00.500Z',
    });
  });

  it('has empty lists if it has no devices', async () => {
    const { id } = await addHost(world.api.sql, { name: 'bare', gpus: 0 });
    expect((await world.admin('GET', `/${id}`)).body).toMatchObject({
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
    const nowhere = await world.admin(method, `/${newId()}${verb}`, {}, body);
    expect([nowhere.status, nowhere.body.code]).toEqual([404, 'not_found']);
    const malformed = await world.admin(method, `/seven${verb}`, {}, body);
    expect(malformed.status).toBe(400);
    expect(malformed.body.details).toMatchObject([{ field: 'host_id' }]);
  });
});

describe('the list of hosts', () => {
  it('is filtered by location, state and admin state, and paged', async () => {
    const names = ['list-a', 'list-b', 'list-c'];
    for (const name of names) await addHost(world.api.sql, { name, location: 'us-east-a' });
    const list = async (query: string) =>
      (await world.admin('GET', `?location=us-east-a${query}`)).body;
    const namesOf = ({ items }: { items: { name: string }[] }) => items.map(({ name }) => name);
    expect(namesOf(await list(''))).toEqual(names);

    const first = await list('&limit=2');
    expect(namesOf(first)).toEqual(['list-a', 'list-b']);
    const second = await list(`&limit=2&page_token=${first.next_page_token}`);
    expect(namesOf(second)).toEqual(['list-c']);
    expect(second.next_page_token).toBe('');

    await world.api.sql`update hosts set state = 'unreachable' where name = 'list-b'`;
    await world.act(first.items[0].id, 'cordon');
    expect(namesOf(await list('&state=unreachable'))).toEqual(['list-b']);
    expect(namesOf(await list('&state=ready'))).toEqual(['list-a', 'list-c']);
    expect(namesOf(await list('&admin_state=cordoned'))).toEqual(['list-a']);
    expect(namesOf(await list('&state=ready&admin_state=active'))).toEqual(['list-c']);
    expect(namesOf((await world.admin('GET', '?location=mars')).body)).toEqual([]);
  });

  it.each(['state=cordoned', 'admin_state=ready', 'limit=0', 'name=x'])(
    'refuses ?%s',
    async (query) => {
      const { status, body } = await world.admin('GET', `?${query}`);
      expect(status).toBe(400);
      expect(body.details).toMatchObject([{ field: query.split('=')[0] }]);
    },
  );
});
