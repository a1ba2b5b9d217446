import { createHash } from 'node:crypto';
import { GIB } from '@gantry/daemon/units';
import type { HostSpecRow, SpecVmRow } from '@gantry/db/queries/hosts/host-specs';
import type { SpecRuleRow } from '@gantry/db/queries/hosts/known-rules';
import { describe, expect, it } from 'vitest';
import { toHostSpec, toOutgoingSpec } from './host-spec.ts';

const osDisk: SpecVmRow['disks'][number] = {
  id: 'os-1',
  type: 'persistent-ssd',
  size_gib: 128,
  block_size: 0,
  serial_number: 'S-os',
  name: 'one',
  mode: 'read-write',
  attachment_type: 'os',
  exists: false,
  in_pool: false,
  volume: null,
};
const dataDisk: SpecVmRow['disks'][number] = {
  id: 'data-1',
  type: 'shared-volume',
  size_gib: 10,
  block_size: 4096,
  serial_number: 'S-d',
  name: 'data',
  mode: 'read-only',
  attachment_type: 'data',
  exists: true,
  in_pool: false,
  volume: null,
};
const vm: SpecVmRow = {
  id: 'vm-1',
  revision: 3,
  generation: 2,
  should_run: true,
  desired_state: 'running',
  abandoned: false,
  relocating: false,
  has_run: false,
  name: 'one',
  project_id: 'project-1',
  type: 'a40.2x',
  cpu_cores: 12,
  memory_gb: 60,
  network_gbps: 20,
  nested_virtualization: true,
  ssh_public_key: 'ssh-ed25519 AAAA',
  ssh_keys: [],
  startup_script: '#!up',
  shutdown_script: '#!down',
  user_data: '',
  operation_id: null,
  image: {
    id: 'image-1',
    name: 'debian-12',
    url: 'https://images.test/d',
    sha256: 'ab',
    stored_sha256: null,
  },
  numa_shares: null,
  devices: [
    { id: 'g1', kind: 'gpu', pci_address: '0000:10:00.0', numa_node: 0 },
    { id: 'd1', kind: 'drive', pci_address: '0000:80:00.0', numa_node: 1 },
    { id: 'g2', kind: 'gpu', pci_address: '0000:90:00.0', numa_node: 1 },
  ],
  disks: [osDisk, dataDisk],
  interfaces: [
    {
      id: 'interface-1',
      network_id: 'net-1',
      mac_address: '02:00:00:00:00:01',
      private_address: '10.0.0.5',
      prefix_length: 24,
      gateway: '10.0.0.1',
      public_address: null,
    },
  ],
};
const row = (change: Partial<HostSpecRow> = {}): HostSpecRow => ({
  host_id: 'host-1',
  era: '7',
  number: '9',
  awaits_comparison: false,
  agent_upgrade: null,
  disk_limits: [],
  freezes: [],
  snapshots: [],
  deleted_snapshots: [],
  disk_copies: [],
  image_exports: [],
  disk_restores: [],
  spans: true,
  vms: [],
  orphans: [],
  disks: [],
  deleted_disks: [],
  networks: [],
  ...change,
});

describe('a spec', () => {
  it('has the limits of each type of disk that has some', () => {
    const none = { read_iops: 0, write_iops: 0, read_bytes_per_second: 0, iops_per_gib: 0 };
    const limits = {
      ...{
        disk_type: 'persistent-ssd' as const,
        total_iops: 500,
        total_bytes_per_second: 9,
        ...none,
      },
      ...{ write_bytes_per_second: 0, bytes_per_second_per_gib: 4, burst_percent: 200 },
      burst_seconds: 3,
    };
    expect(toHostSpec(row({ disk_limits: [limits] })).diskLimits).toEqual([
      {
        ...{ kind: 'DISK_KIND_PERSISTENT_SSD', totalIops: 500, readIops: 0, writeIops: 0 },
        ...{ totalBytesPerSecond: 9, readBytesPerSecond: 0, writeBytesPerSecond: 0 },
        ...{ iopsPerGib: 0, bytesPerSecondPerGib: 4, burstPercent: 200, burstSeconds: 3 },
      },
    ]);
    expect(toHostSpec(row()).diskLimits).toEqual([]);
  });

  it('describes a VM that should run', () => {
    const { vms, takeDowns } = toHostSpec(row({ vms: [vm] }));
    expect(takeDowns).toEqual([]);
    expect(vms).toEqual([
      {
        id: 'vm-1',
        revision: 3,
        generation: 2,
        name: 'one',
        cpuCores: 12,
        memoryMib: 61_440,
        devices: [
          { kind: 'gpu', address: '0000:10:00.0' },
          { kind: 'gpu', address: '0000:90:00.0' },
          { kind: 'drive', address: '0000:80:00.0' },
        ],
        disks: [
          {
            id: 'os-1',
            kind: 'DISK_KIND_PERSISTENT_SSD',
            sizeBytes: 128 * GIB,
            blockSize: 0,
            serialNumber: 'S-os',
            name: 'one',
            readOnly: false,
            exists: false,
          },
          {
            id: 'data-1',
            kind: 'DISK_KIND_SHARED_VOLUME',
            sizeBytes: 10 * GIB,
            blockSize: 4096,
            serialNumber: 'S-d',
            name: 'data',
            readOnly: true,
            exists: true,
          },
        ],
        interfaces: [
          {
            id: 'interface-1',
            networkId: 'net-1',
            mac: '02:00:00:00:00:01',
            privateIpv4: '10.0.0.5/24',
            gatewayIpv4: '10.0.0.1',
            publicIpv4: '',
            bandwidthMbps: 20_000,
          },
        ],
        image: { name: 'debian-12', url: 'https://images.test/d', sha256: 'ab' },
        sshPublicKey: 'ssh-ed25519 AAAA',
        startupScript: '#!up',
        shutdownScript: '#!down',
        numaShares: [
          { node: 0, cpuCores: 6, memoryMib: 30_720 },
          { node: 1, cpuCores: 6, memoryMib: 30_720 },
        ],
        projectId: 'project-1',
        type: 'a40.2x',
        imageId: 'image-1',
        nestedVirtualization: true,
      },
    ]);
  });

  it('contains the stored shares of NUMA nodes', () => {
    const numa_shares = [{ node: 3, cores: 12, memoryMib: 61_440 }];
    const [built] = toHostSpec(row({ vms: [{ ...vm, numa_shares }] })).vms ?? [];
    expect(built?.numaShares).toEqual([{ node: 3, cpuCores: 12, memoryMib: 61_440 }]);
  });

  it.each([
    ['further keys', { ssh_keys: ['b', 'c'] }, { sshKeys: ['b', 'c'], needs: ['ssh_keys'] }],
    [
      'several keys',
      { ssh_public_key: '', ssh_keys: ['ssh-ed25519 AAAA', 'b'] },
      { sshKeys: ['b'], needs: ['ssh_keys'] },
    ],
    ['one key', { ssh_public_key: '', ssh_keys: ['ssh-ed25519 AAAA'] }, {}],
  ])(
    'needs an agent that can install several keys only if there are: %s',
    (_, change, expected) => {
      const [built] = toHostSpec(row({ vms: [{ ...vm, ...change }] })).vms ?? [];
      const { sshPublicKey, sshKeys, needs } = built ?? {};
      expect({ sshPublicKey, sshKeys, needs }).toEqual({
        sshPublicKey: 'ssh-ed25519 AAAA',
        ...expected,
      });
    },
  );

  it('needs an agent that can pass on user data if there is some', () => {
    const change = { user_data: '#cloud-config', ssh_keys: ['b'] };
    const [built] = toHostSpec(row({ vms: [{ ...vm, ...change }] })).vms ?? [];
    expect(built).toMatchObject({ userData: '#cloud-config', needs: ['ssh_keys', 'user_data'] });
  });

  it('contains the image only while the OS disk does not exist', () => {
    const built = { ...vm, disks: [{ ...osDisk, exists: true }, dataDisk] };
    expect(toHostSpec(row({ vms: [built] })).vms?.[0]).not.toHaveProperty('image');
  });

  it('names an image of the store by its id and its content, which only newer agents can fetch', () => {
    const stored = { ...vm, image: { ...vm.image, url: '', stored_sha256: 'cd' } };
    const withDisk = { ...stored, disks: [{ ...osDisk, exists: true }] };
    expect(toHostSpec(row({ vms: [stored] })).vms?.[0]).toMatchObject({
      image: { id: 'image-1', name: 'debian-12', url: '', sha256: 'cd' },
      needs: ['image_transfers'],
    });
    expect(toHostSpec(row({ vms: [withDisk] })).vms?.[0]?.needs).toBeUndefined();
    const exports = [{ image_id: 'image-2', snapshot_id: 's-1' }];
    expect(toHostSpec(row({ image_exports: exports })).imageExports).toEqual([
      { imageId: 'image-2', snapshotId: 's-1' },
    ]);
  });

  it('contains the public address if there is one', () => {
    const interfaces = vm.interfaces.map((iface) => ({ ...iface, public_address: '198.51.100.7' }));
    const spec = toHostSpec(row({ vms: [{ ...vm, interfaces }] }));
    expect(spec.vms?.[0]?.interfaces?.[0]?.publicIpv4).toBe('198.51.100.7');
  });

  it.each([
    ['stopped', { desired_state: 'stopped' }, { graceful: true, disks: [] }],
    ['deleted', { desired_state: 'deleted' }, { graceful: false, disks: ['os-1'] }],
    ['never built', { abandoned: true }, { graceful: false, disks: ['os-1'] }],
    ['stopped, then given up', { desired_state: 'stopped', abandoned: true }, { graceful: false }],
    ['in error', {}, { graceful: false, disks: [] }],
  ] as const)('takes down a VM that is %s and lists its devices', (_, change, entry) => {
    const spec = toHostSpec(row({ vms: [{ ...vm, should_run: false, ...change }] }));
    expect(spec.vms).toEqual([]);
    expect(spec.takeDowns).toMatchObject([
      {
        id: 'vm-1',
        revision: 3,
        ...entry,
        devices: [
          { kind: 'gpu', address: '0000:10:00.0' },
          { kind: 'gpu', address: '0000:90:00.0' },
          { kind: 'drive', address: '0000:80:00.0' },
        ],
      },
    ]);
  });

  it('lists disks to grow or remove that no VM of the host has', () => {
    const spec = toHostSpec(row({ disks: [dataDisk], deleted_disks: ['old-1'] }));
    expect(spec.disks).toEqual([
      {
        id: 'data-1',
        kind: 'DISK_KIND_SHARED_VOLUME',
        sizeBytes: 10 * GIB,
        blockSize: 4096,
        serialNumber: 'S-d',
        name: 'data',
      },
    ]);
    expect(spec.deletedDisks).toEqual(['old-1']);
  });

  it('contains firewall rules without endpoints that no longer exist', () => {
    const rule = {
      id: 'r-1',
      network_id: 'net-1',
      direction: 'egress',
      action: 'deny',
      protocols: ['udp'],
      sources: ['10.0.0.0/24', null],
      source_ports: ['1-9'],
      destinations: [null],
      destination_ports: ['53'],
    } as unknown as SpecRuleRow;
    const networks = [{ id: 'net-1', vni: 7, subnets: [], rules: [rule] }];
    expect(toHostSpec(row({ networks })).firewallRules).toEqual([
      {
        id: 'r-1',
        networkId: 'net-1',
        direction: 'DIRECTION_EGRESS',
        action: 'ACTION_DENY',
        protocols: ['udp'],
        sources: ['10.0.0.0/24'],
        sourcePorts: ['1-9'],
        destinations: [],
        destinationPorts: ['53'],
      },
    ]);
  });

  it('names unfinished operations beside its content, which does not change with them', () => {
    const ofStream = { consoles: [], authoritySha256s: [] };
    const without = toOutgoingSpec(row({ vms: [vm] }), ofStream);
    const during = toOutgoingSpec(row({ vms: [{ ...vm, operation_id: 'o-1' }] }), ofStream);
    expect(during.operations).toEqual([{ vmId: 'vm-1', operationId: 'o-1' }]);
    expect(during.id).toEqual(without.id);
    expect(without).not.toHaveProperty('operations');
  });

  it('contains complete networks, without their VMs', () => {
    const subnets = [{ cidr: '10.0.0.0/24', gateway: '10.0.0.1' }];
    const networks = [{ id: 'net-1', vni: 7, subnets, rules: [] }];
    expect(toHostSpec(row({ networks })).networks).toEqual([
      {
        ...{ id: 'net-1', vni: 7, membersApart: true },
        subnets: [{ cidr: '10.0.0.0/24', gatewayIpv4: '10.0.0.1' }],
      },
    ]);
  });

  it('keeps all parts of a network with many rules but one when a rule is removed', () => {
    const rules = Array.from({ length: 300 }, (_, index) => ({
      ...{ id: createHash('sha256').update(String(index)).digest('hex'), network_id: 'net-1' },
      ...{ direction: 'ingress' as const, action: 'allow' as const, protocols: ['tcp'] },
      ...{ sources: [], source_ports: [], destinations: [], destination_ports: [] },
    }));
    const partsOf = (some: SpecRuleRow[]) => {
      const networks = [{ id: 'net-1', vni: 7, subnets: [], rules: some }];
      const ofStream = { consoles: [], authoritySha256s: [] };
      return toOutgoingSpec(row({ networks }), ofStream).parts.map(({ hash }) => hash);
    };
    const before = partsOf(rules);
    expect(before.length).toBeGreaterThan(4);
    const after = partsOf(rules.toSpliced(100, 1));
    expect(after.filter((hash) => !before.includes(hash)).length).toBeLessThanOrEqual(1);
  });

  it('keeps the parts of all other rules when a large rule changes, and the order of all rules', () => {
    const sources = Array.from({ length: 65 }, (_, i) => `10.0.0.${i}/32`);
    const large = (ports: string[]): SpecRuleRow => ({
      ...{ id: '00ff', network_id: 'net-1', direction: 'ingress', action: 'allow' },
      ...{ protocols: ['tcp'], sources, source_ports: [], destinations: [] },
      destination_ports: ports,
    });
    const small = (id: string) => ({ ...large([]), id, sources: [] });
    const specOf = (ports: string[]) => {
      const rules = [small('1'), small('2'), large(ports), small('3')];
      const networks = [{ id: 'net-1', vni: 7, subnets: [], rules }];
      return toOutgoingSpec(row({ networks }), { consoles: [], authoritySha256s: [] });
    };
    const [before, after] = [specOf(['80']), specOf(['443'])];
    const hashes = before.parts.map(({ hash }) => hash);
    const changed = after.parts.filter(({ hash }) => !hashes.includes(hash));
    expect(changed.map(({ content }) => content.firewallRules?.map(({ id }) => id))).toEqual([
      ['00ff'],
    ]);
    const ids = after.parts.flatMap(({ content }) => content.firewallRules ?? []);
    expect(ids.map(({ id }) => id)).toEqual(['1', '2', '00ff', '3']);
  });
});
