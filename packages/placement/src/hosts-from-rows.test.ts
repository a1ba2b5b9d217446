import { expect, it } from 'vitest';
import { chooseHost } from './choose-host.ts';
import { newHostIndex } from './host-index.ts';
import { type HostRows, hostsFromRows } from './hosts-from-rows.ts';
import { placeOnHost } from './place-on-host.ts';
import { requestFor } from './request-for.ts';

const TYPE = {
  may_split: true,
  nested_virtualization: false,
  cpu_cores: 7,
  memory_gb: 2,
  disk_gb: 1920,
  disk_count: 2,
  gpu_count: 2,
  gpu_type: 'A40',
  network_gbps: 50,
};
const device = {
  host_id: 'h',
  numa_node: 0,
  state: 'ready',
  quarantine_reason: '',
  blocked: false,
  problem: null,
  vm_id: null,
};
const gpu = {
  ...device,
  kind: 'gpu' as const,
  model: 'A40',
  size_gb: 0,
  pcie_switch: 's',
  nvlink_peer: '',
};
const drive = {
  ...device,
  kind: 'drive' as const,
  model: '',
  size_gb: 960,
  pcie_switch: '',
  iommu_group: null,
  nvlink_peer: '',
};
const rows: HostRows = {
  hosts: [
    {
      id: 'h',
      location: 'one',
      state: 'ready',
      admin_state: 'active',
      fenced: false,
      shared_storage: true,
      enforces_bandwidth: true,
      lacks_nesting: false,
      reaches_volumes: false,
      free_storage_gib: -40,
      drifted: false,
      trouble: '',
      numa_nodes: [0, 1].map((node) => ({ node, cores: 10, memoryMib: 4096, networkGbps: 60 })),
    },
    {
      id: 'i',
      location: 'one',
      state: 'ready',
      admin_state: 'draining',
      fenced: true,
      shared_storage: false,
      enforces_bandwidth: false,
      lacks_nesting: false,
      reaches_volumes: false,
      free_storage_gib: null,
      drifted: true,
      trouble: '',
      numa_nodes: [],
    },
  ],
  devices: [
    { ...gpu, id: 'g0', pci_address: 'a0', iommu_group: 0 },
    { ...gpu, id: 'g1', pci_address: 'a1', iommu_group: 1, nvlink_peer: 'a2', vm_id: 'v' },
    {
      ...{ ...gpu, id: 'g2', pci_address: 'a2', iommu_group: 2, numa_node: 1, vm_id: 'v' },
      nvlink_peer: 'a1',
    },
    { ...gpu, id: 'g3', pci_address: 'a3', iommu_group: null, state: 'missing' },
    { ...gpu, id: 'g4', pci_address: 'a4', iommu_group: 4, quarantine_reason: 'x', vm_id: 'v' },
    { ...drive, id: 'd0', pci_address: 'b0' },
    { ...drive, id: 'd1', pci_address: 'b1', vm_id: 'v' },
    { ...drive, id: 'd2', pci_address: 'b2', state: 'quarantined' },
  ],
  vms: [{ ...TYPE, vm_id: 'v', host_id: 'h', numa_shares: null }],
};

it('hostsFromRows converts rows to hosts with their free amounts', () => {
  const [host, other] = hostsFromRows({
    ...rows,
    devices: rows.devices.filter(({ id }) => id !== 'g4'),
  });
  expect(host).toMatchObject({ id: 'h', ready: true, adminState: 'active', sharedStorage: true });
  expect([host?.freeStorageGib, other?.freeStorageGib]).toEqual([-40, undefined]);
  expect([host?.drifted, other?.drifted]).toEqual([false, true]);
  expect(host?.gpus.map(({ state, nvlinkPeer }) => [state, nvlinkPeer])).toEqual([
    ['free', null],
    ['claimed', 'g2'],
    ['claimed', 'g1'],
    ['quarantined', null],
  ]);
  expect(host?.companions.map(({ state }) => state)).toEqual(['free', 'claimed', 'quarantined']);
  // The VM has one GPU on each node: half of all amounts, and the odd core on one of the nodes.
  expect(host?.numaNodes).toEqual([
    { node: 0, cores: 6, memoryMib: 3072, networkGbps: 35 },
    { node: 1, cores: 7, memoryMib: 3072, networkGbps: 35 },
  ]);
  expect(other).toMatchObject({ ready: false, adminState: 'draining', gpus: [], companions: [] });
});

it('bandwidth limits what a host takes only if the host enforces it', () => {
  const fits = (enforces_bandwidth: boolean) => {
    const hosts = rows.hosts.slice(0, 1).map((host) => ({ ...host, enforces_bandwidth }));
    const index = newHostIndex();
    for (const host of hostsFromRows({ ...rows, hosts, vms: [] })) index.put(host);
    const request = requestFor('one', {
      ...{ ...TYPE, gpu_count: 1, disk_count: 1, disk_gb: 960, network_gbps: 121 },
    });
    return placeOnHost(index, 'h', request) !== null;
  };
  expect(fits(true)).toBe(false);
  expect(fits(false)).toBe(true);
});

it('the stored shares of a VM are what it has, whatever nodes its GPUs are on', () => {
  const numa_shares = [{ node: 1, cores: 7, memoryMib: 2048 }];
  const [host] = hostsFromRows({ ...rows, vms: rows.vms.map((vm) => ({ ...vm, numa_shares })) });
  expect(host?.numaNodes).toMatchObject([
    { node: 0, cores: 10, memoryMib: 4096 },
    { node: 1, cores: 3, memoryMib: 2048 },
  ]);
});

it('a share of a node that the host does not have any more is taken from the others', () => {
  const numa_shares = [{ node: 7, cores: 13, memoryMib: 2048 }];
  const [host] = hostsFromRows({ ...rows, vms: rows.vms.map((vm) => ({ ...vm, numa_shares })) });
  expect(host?.numaNodes).toMatchObject([
    { node: 0, cores: 0, memoryMib: 2048 },
    { node: 1, cores: 7, memoryMib: 4096 },
  ]);
});

it('a quarantined device stays quarantined while a VM has claimed it', () => {
  const [host] = hostsFromRows(rows);
  expect(host?.gpus.at(-1)?.state).toBe('quarantined');
});

it('a device that has a problem or that its host uses is quarantined', () => {
  const [host] = hostsFromRows({
    hosts: rows.hosts.slice(0, 1),
    vms: [],
    devices: [
      { ...gpu, id: 'g', pci_address: 'a', iommu_group: 0, blocked: true, problem: 'it is worn' },
      { ...drive, id: 'd', pci_address: 'b', state: 'used_by_host' },
    ],
  });
  expect(host?.gpus[0]?.problem).toBe('it is worn');
  expect([host?.gpus[0]?.state, host?.companions[0]?.state]).toEqual([
    'quarantined',
    'quarantined',
  ]);
});

it('placeOnHost gives the same placement on a host as chooseHost', () => {
  const index = newHostIndex();
  for (const host of hostsFromRows(rows)) index.put(host);
  const request = requestFor('one', {
    ...TYPE,
    cpu_cores: 3,
    network_gbps: 5,
    gpu_count: 1,
    disk_count: 1,
    disk_gb: 960,
  });
  expect(placeOnHost(index, 'h', request)).toEqual(chooseHost(index, request));
  expect(placeOnHost(index, 'h', { ...request, gpuCount: 2 })).toBeNull();
  expect(placeOnHost(index, 'h', { ...request, gpuModel: 'L40S' })).toBeNull();
  expect(placeOnHost(index, 'h', { ...request, location: 'two' })).toBeNull();
  expect(placeOnHost(index, 'i', request)).toBeNull();
  expect(placeOnHost(index, 'gone', request)).toBeNull();
});

it.each([
  [true, false],
  [false, true],
])('a host with lacks_nesting %s takes a nested VM: %s', (lacks_nesting, takes) => {
  const hosts = rows.hosts.slice(0, 1).map((host) => ({ ...host, lacks_nesting }));
  const index = newHostIndex();
  for (const host of hostsFromRows({ ...rows, hosts, vms: [] })) index.put(host);
  const type = { ...TYPE, gpu_count: 1, disk_count: 0, disk_gb: 0, nested_virtualization: true };
  expect(placeOnHost(index, 'h', requestFor('one', type)) !== null).toBe(takes);
});
