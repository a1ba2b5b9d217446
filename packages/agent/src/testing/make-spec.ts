import type {
  DeviceRef,
  DiskSpec,
  FirewallRule,
  HostSpec,
  InterfaceSpec,
  NetworkSpec,
  VmSpec,
  VmTakeDown,
} from '../spec.ts';

/** Complete specs, built from the fields that a test sets. */
export function makeSpec(number: number, spec: Partial<HostSpec> = {}): HostSpec {
  return {
    era: '0',
    number: String(number),
    hash: `hash of ${number}`,
    vms: [],
    takeDowns: [],
    disks: [],
    deletedDisks: [],
    firewallRules: [makeRule('rule-1')],
    consoles: [],
    networks: [],
    needs: [],
    authoritySha256s: [],
    agentUpgrade: null,
    operations: [],
    diskLimits: [],
    freezes: [],
    snapshots: [],
    deletedSnapshots: [],
    diskCopies: [],
    diskRestores: [],
    imageExports: [],
    ...spec,
  };
}

export function makeVm(id: string, vm: Partial<VmSpec> = {}): VmSpec {
  return {
    id,
    revision: '1',
    generation: '1',
    name: id,
    cpuCores: 8,
    memoryMib: 16_384,
    devices: [],
    disks: [makeDisk(`${id}-os`)],
    interfaces: [makeInterface(`${id}-interface`)],
    image: { name: 'debian-12', url: 'https://images.test/debian-12.raw', sha256: 'ab', id: '' },
    sshPublicKey: '',
    sshKeys: [],
    userData: '',
    startupScript: '',
    shutdownScript: '',
    numaShares: [],
    projectId: '',
    type: '',
    imageId: '',
    needs: [],
    nestedVirtualization: false,
    ...vm,
  };
}

export function makeTakeDown(id: string, vm: Partial<VmTakeDown> = {}): VmTakeDown {
  return { id, revision: '2', graceful: true, devices: [], disks: [], ...vm };
}

export const gpu = (address: string): DeviceRef => ({ kind: 'gpu', address });
export const drive = (address: string): DeviceRef => ({ kind: 'drive', address });

export function makeDisk(id: string, disk: Partial<DiskSpec> = {}): DiskSpec {
  return {
    id,
    kind: 'DISK_KIND_PERSISTENT_SSD',
    sizeBytes: '1073741824',
    readOnly: false,
    exists: false,
    rbd: null,
    cephfs: null,
    blockSize: 0,
    serialNumber: id,
    name: '',
    ...disk,
  };
}

export function makeInterface(id: string, iface: Partial<InterfaceSpec> = {}): InterfaceSpec {
  return {
    id,
    networkId: 'network-1',
    mac: '02:00:00:00:00:01',
    privateIpv4: '10.0.0.5/24',
    gatewayIpv4: '10.0.0.1',
    publicIpv4: '',
    bandwidthMbps: 0,
    ...iface,
  };
}

export function makeNetwork(id: string, network: Partial<NetworkSpec> = {}): NetworkSpec {
  return {
    id,
    vni: 1,
    subnets: [{ cidr: '10.0.0.0/24', gatewayIpv4: '10.0.0.1' }],
    neighbours: [],
    membersApart: false,
    ...network,
  };
}

export function makeRule(id: string, rule: Partial<FirewallRule> = {}): FirewallRule {
  return {
    id,
    networkId: 'network-1',
    direction: 'DIRECTION_INGRESS',
    action: 'ACTION_ALLOW',
    protocols: ['tcp'],
    sources: ['0.0.0.0/0'],
    sourcePorts: [],
    destinations: ['0.0.0.0/0'],
    destinationPorts: ['22'],
    ...rule,
  };
}
