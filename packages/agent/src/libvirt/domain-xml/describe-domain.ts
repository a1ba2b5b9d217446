import type { CardPlaces } from '../../devices/card-places.ts';
import type { VmSpec } from '../../spec.ts';
import { chooseCells, chooseHugepages, type HostNode, hostCpusOf } from './choose-cells.ts';
import { type DiskHost, describeDisks } from './describe-disks.ts';
import type { CardDefinition, DomainDefinition, GuestCell, Platform } from './domain-definition.ts';

/** What a definition depends on besides the VM's spec. */
export type DomainHost = Omit<DiskHost, 'iothreads'> &
  CardPlaces & {
    platform: Platform;
    vhostNet: boolean;
    /** Whether guests' memory may be locked: the agent has CAP_SYS_RESOURCE. */
    lockMemory: boolean;
    /** By the kernel's number. Empty: no NUMA. */
    numaNodes: readonly HostNode[];
    /** Null: no seed. */
    seedPath: string | null;
    nvramPath: string;
    serialLogPath: string;
    nicOf(nic: VmSpec['nics'][number]): { tap: string; mtu: number };
    /** The generation for which the domain runs; "0" before its first start. */
    generation: string;
  };

/** More queues do not help on links of 100 Gbit/s and cost memory on both sides. */
const MAX_QUEUES = 8;
/** With a single queue libvirt opens a tap in a mode that a multi-queue tap refuses. */
const MIN_QUEUES = 2;
const MAX_IOTHREADS = 4;
const CORES_PER_IOTHREAD = 8;

export function describeDomain(vm: VmSpec, host: DomainHost): DomainDefinition {
  const canPin = host.platform.accel === 'kvm';
  const cells = chooseCells(vm, host.numaNodes).map((cell) => (canPin ? cell : withoutPins(cell)));
  const iothreads = iothreadsOf(vm);
  return {
    metadata: {
      vmId: vm.id,
      revision: vm.revision,
      generation: host.generation,
      devices: vm.devices,
    },
    title: vm.name,
    platform: host.platform,
    nvramPath: host.nvramPath,
    cells,
    emulatorCpus: canPin ? hostCpusOf(vm, host.numaNodes) : '',
    memory: {
      hugepageKib: chooseHugepages(cells, host.numaNodes),
      locked: host.lockMemory && vm.devices.some(({ kind }) => kind === 'gpu'),
    },
    iothreads,
    ...describeDisks(vm.disks, { ...host, iothreads }),
    seedPath: host.seedPath,
    nics: vm.nics.map((nic) => ({
      mac: nic.mac,
      ...host.nicOf(nic),
      vhost: host.vhostNet,
      queues: Math.max(MIN_QUEUES, Math.min(vm.cpuCores, MAX_QUEUES)),
    })),
    cards: vm.devices.flatMap(({ address }) => describeCard(address, host, cells)),
    serialLogPath: host.serialLogPath,
    mmio64Mib: host.mmio64Mib,
  };
}

/**
 * An emulator may run all vCPUs in one thread, and libvirt then refuses to start a pinned domain.
 */
function withoutPins(cell: GuestCell): GuestCell {
  return { ...cell, vcpuPins: cell.vcpuPins.map(() => '') };
}

function iothreadsOf(vm: VmSpec): number {
  return Math.min(MAX_IOTHREADS, Math.ceil(vm.cpuCores / CORES_PER_IOTHREAD));
}

function describeCard(
  address: string,
  host: DomainHost,
  cells: readonly GuestCell[],
): CardDefinition[] {
  const node = host.nodeOf(address);
  const cell = cells.findIndex(({ hostNode }) => hostNode !== null && hostNode === node);
  return host.partsOf(address).map((part) => ({ ...part, cell: cell < 0 ? null : cell }));
}
