import { GIB, MIB } from '@gantry/daemon/units';
import type { NumaNodeTotals, ReportedDevice } from '@gantry/db/queries/hosts/inventories';
import { isUnicast } from '@gantry/model/cidr';
import { gpuModelOf } from '@gantry/model/gpu-models';
import { UNKNOWN_NODE } from '@gantry/placement/host';
import type { Inventory__Output } from '@gantry/proto/generated/gantry/v1/Inventory';
import type { NumaNode__Output as Node } from '@gantry/proto/generated/gantry/v1/NumaNode';
import { type SeenDevice, seenDevices } from '../health/seen-device.ts';

/** The part of an inventory that placement needs. */
export type HostParts = {
  numaNodes: NumaNodeTotals[];
  devices: DevicePart[];
  sharedStorage: boolean;
  enforcesBandwidth: boolean;
  lacksNesting: boolean;
  /** How large all its disks may be together. Null: there is no limit. */
  storageGib: number | null;
};
export type DevicePart = Omit<ReportedDevice, 'problems'>;

/** The largest number that the database stores for it. */
const MOST_GIB = 2 ** 31 - 1;
const BYTES_PER_GB = 1e9;
const MBPS_PER_GBPS = 1000;
/** For an agent that does not report its offer: without hugepages, the host keeps this part of a node. */
const HOST_SHARE = 0.02;
/** Used if the NICs do not report their speed, so that the host can still take VMs. */
const UNKNOWN_GBPS = 400;

export function hostPartsOf(inventory: Inventory__Output): HostParts {
  return {
    numaNodes: numaNodesOf(inventory),
    devices: [...seenDevices(inventory).values()].map(deviceOf),
    sharedStorage: inventory.sharedStorage,
    enforcesBandwidth: inventory.enforcesBandwidth,
    lacksNesting: inventory.lacksNesting,
    storageGib: storageGibOf(inventory),
  };
}

/** Storage that hosts share is not counted for each of them, and earlier agents do not report theirs. */
function storageGibOf({ sharedStorage, storagePools }: Inventory__Output): number | null {
  const pool = storagePools.find(({ diskKinds }) => diskKinds.includes('DISK_KIND_PERSISTENT_SSD'));
  if (sharedStorage || !pool) return null;
  return Math.min(MOST_GIB, Math.floor(Number(pool.offeredBytes) / GIB));
}

function deviceOf(device: SeenDevice): DevicePart {
  const { kind, vendorId, deviceId } = device;
  return {
    kind,
    pciAddress: device.address,
    numaNode: device.numaNode ?? UNKNOWN_NODE,
    pcieSwitch: switchOf(device),
    iommuGroup: device.iommuGroup ?? null,
    // VM types name the model of their GPUs; devices of other kinds are asked for by size.
    model: kind === 'gpu' ? gpuModelOf(vendorId, deviceId) : '',
    serial: device.serial,
    sizeGb: Math.floor(Number(device.sizeBytes) / BYTES_PER_GB),
    // Earlier agents report `nvlink_peer`, which did not keep a pair together. Its GPUs may be in VMs.
    nvlinkPeer: device.attributes['nvlink_bridge'] ?? '',
    uses: device.uses,
  };
}

/** Devices below one switch share all bridges except the last. A device without a switch is alone. */
function switchOf({ bridges, address }: SeenDevice): string {
  return bridges.slice(0, -1).join('/') || (bridges[0] ?? address);
}

/** An agent reports what each node offers to VMs. Agents before that are counted by the scheduler. */
function numaNodesOf(inventory: Inventory__Output): NumaNodeTotals[] {
  const { cpu, numaNodes } = inventory;
  const nodes: Node[] =
    numaNodes.length > 0
      ? numaNodes
      : [{ id: 0, cpus: '', memoryBytes: inventory.memoryBytes, hugepages: [], distances: [] }];
  const threadsPerCore = cpu && cpu.cores > 0 ? Math.max(1, cpu.threads / cpu.cores) : 1;
  const coresOf = ({ cpus }: Node) => {
    if (cpus !== '') return Math.floor(countCpus(cpus) / threadsPerCore);
    return numaNodes.length > 0 ? 0 : (cpu?.cores ?? 0);
  };
  const networkGbps = networkGbpsOf(inventory) / nodes.length;
  return nodes.map((node) => ({
    node: node.id,
    ...placeOf(node, nodes.length),
    cores: node.offeredCores ?? coresOf(node),
    memoryMib: node.offeredMemoryMib ?? memoryMibOf(node),
    networkGbps,
  }));
}

/** Stored inventories of earlier agents have neither sockets nor distances. */
function placeOf(
  node: { socket?: number; distances?: number[] },
  nodes: number,
): Pick<NumaNodeTotals, 'socket' | 'distances'> {
  const { socket, distances = [] } = node;
  return {
    ...(socket !== undefined && { socket }),
    ...(distances.length === nodes && { distances }),
  };
}

/** Returns the reserved hugepages or, without them, all memory except the host's own share. */
function memoryMibOf(node: Node): number {
  const setAside = node.hugepages.reduce((sum, { pageKib, total }) => sum + pageKib * total, 0);
  if (setAside > 0) return Math.floor(setAside / 1024);
  return Math.floor((Number(node.memoryBytes) * (1 - HOST_SHARE)) / MIB);
}

/** Counts physical Ethernet only. A bond consists of NICs that are counted already. */
function networkGbpsOf({ nics }: Inventory__Output): number {
  const mbps = nics
    .filter(({ pciAddress, up, infiniband }) => pciAddress !== '' && up && !infiniband)
    .reduce((sum, { speedMbps }) => sum + (speedMbps ?? 0), 0);
  return mbps > 0 ? mbps / MBPS_PER_GBPS : UNKNOWN_GBPS;
}

/** "0-15,32-47" -> 32 */
function countCpus(list: string): number {
  return list.split(',').reduce((sum, range) => {
    const [first = '', last = first] = range.split('-');
    return sum + Number(last) - Number(first) + 1;
  }, 0);
}

/** Returns null unless the address is unicast: packets of tenants must reach exactly one host. */
export function underlayAddressOf({ underlayIpv4 }: Inventory__Output): string | null {
  return isUnicast(underlayIpv4) ? underlayIpv4 : null;
}

/** Returns the address from which the host reaches storage clusters, or null if it sent none that a fence can block. */
export function storageAddressOf({ storageIpv4 }: Inventory__Output): string | null {
  return isUnicast(storageIpv4) ? storageIpv4 : null;
}
