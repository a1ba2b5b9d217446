import type { Log } from '@gantry/daemon/log';
import { HostFailure } from '../../base/failure.ts';
import { allocateCpus } from '../../capacity/allocate-cpus.ts';
import type { CapacitySettings } from '../../capacity/capacity-settings.ts';
import type { CardPlaces } from '../../devices/card-places.ts';
import type { DomainState, GuestHardware } from '../../host-driver.ts';
import { tapName } from '../../network/kernel/names.ts';
import type { DeviceRef, DiskSpec, VmSpec } from '../../spec.ts';
import type { VolumeDriver } from '../../volumes/volume-driver.ts';
import {
  chooseCells,
  chooseHugepages,
  type HostNode,
  hostCpusOf,
  threadsPerCore,
} from './choose-cells.ts';
import { choosePeers } from './choose-peers.ts';
import { type DescribedDisks, type DiskHost, describeDisks, slotsOf } from './describe-disks.ts';
import type {
  CardDefinition,
  DomainDefinition,
  DomainMetadata,
  GuestCell,
  Platform,
} from './domain-definition.ts';
import { keepHardware } from './keep-hardware.ts';
import type { DomainFacts } from './read-domain.ts';

/** Where the parts of a VM are on its host. */
type HostPlaces = {
  platform: Platform;
  vhostNet: boolean;
  hasCliques(): Promise<boolean>;
  volumes: Pick<VolumeDriver, 'locate'>;
  mtu: number;
  directIo: boolean;
  lockMemory: boolean;
  seedPath(vmId: string): string;
  nvramPath(vmId: string): string;
  serialLogPath(vmId: string): string;
  /** Where the devices are on the host; stand-ins have no place. */
  placesOf(devices: readonly DeviceRef[]): Promise<CardPlaces>;
  /** Whether guests of this host can run VMs. */
  offersNesting(): Promise<boolean>;
  numaNodes(): Promise<readonly HostNode[]>;
  core: CapacitySettings['core'];
  log: Pick<Log, 'warn'>;
};

/** A domain of the host that this VM replaces, and what the others have. */
type Neighbours = {
  /** Null: the VM has no domain yet. */
  present: { facts: DomainFacts; state: DomainState } | null;
  /**
   * The hardware that the agent recorded for the VM, if any. It wins over that of the domain, which may
   * have been changed outside the agent.
   */
  kept: GuestHardware | null;
  /** Returns the pins of the vCPUs of all other domains. */
  readOtherPins(): Promise<readonly string[]>;
};

/** Reads from the host where the parts of a VM are, and describes them as a domain. */
export function domainDescriber(host: HostPlaces) {
  const { platform, vhostNet, volumes, directIo } = host;

  const sourcesOf = async (disks: readonly DiskSpec[]) => {
    const sources = await Promise.all(disks.map((disk) => volumes.locate(disk)));
    const byId = new Map(disks.map(({ id }, index) => [id, sources[index]]));
    return ({ id }: DiskSpec) => {
      const source = byId.get(id);
      if (!source) throw new Error(`BUG: disk ${id} was not located`);
      return source;
    };
  };

  /** Reserves CPUs for a VM that is not running. What it gets is in its definition. */
  const reserveCpus = async (vm: VmSpec, { present, readOtherPins }: Neighbours) => {
    const nodes = await host.numaNodes();
    if (nodes.length === 0 || !canPin(platform) || present?.state === 'running') return nodes;
    const reserved = allocateCpus({
      ...{ nodes, core: host.core, shares: vm.numaShares },
      present: present?.facts.vcpuPins ?? [],
      others: await readOtherPins(),
    });
    return nodes.map((node) => {
      const vcpuPins = reserved.get(node.id);
      if (vcpuPins === null) {
        const fields = { vm_id: vm.id, numa_node: node.id };
        host.log.warn(fields, 'too few free CPUs: the vCPUs share all CPUs of the node for VMs');
      }
      return vcpuPins ? { ...node, vcpuPins } : node;
    });
  };

  return {
    /**
     * Returns the definition that a VM should have. Unless its domain runs, it may get other CPUs, so
     * the caller must define it before another domain is described.
     */
    async describe(vm: VmSpec, neighbours: Neighbours): Promise<DomainDefinition> {
      const present = neighbours.present?.facts;
      const isRunning = neighbours.present?.state === 'running';
      if (vm.nestedVirtualization && !(await host.offersNesting())) {
        const message =
          "the VM's type has nested virtualization, which KVM of this host does not offer: set the " +
          'parameter "nested" of kvm_intel or kvm_amd to 1';
        throw new HostFailure('nesting_unavailable', message);
      }
      const places = await host.placesOf(vm.devices);
      const haveGroups = vm.devices.some(({ address }) => places.peersOf(address)?.group);
      return describeDomain(vm, {
        ...{ vhostNet, directIo },
        hasCliques: haveGroups && (await host.hasCliques()),
        platform: keepHardware(platform, neighbours.kept ?? present?.hardware ?? null),
        sourceOf: await sourcesOf(vm.disks),
        slots: present ? slotsOf(present) : new Map(),
        seedPath: host.seedPath(vm.id),
        nvramPath: host.nvramPath(vm.id),
        serialLogPath: host.serialLogPath(vm.id),
        interfaceOf: (iface) => ({ tap: tapName(iface.id), mtu: host.mtu }),
        ...places,
        numaNodes: await reserveCpus(vm, neighbours),
        runningPins: isRunning ? (present?.vcpuPins ?? []) : [],
        lockMemory: host.lockMemory,
        generation: present?.metadata?.generation ?? '0',
        volumes: isRunning ? (present?.metadata?.volumes ?? []) : [],
      });
    },

    /** Returns one more disk for a running domain. */
    async describeDisk(disk: DiskSpec, present: DomainFacts): Promise<DescribedDisks> {
      return describeDisks([disk], {
        directIo,
        sourceOf: await sourcesOf([disk]),
        slots: slotsOf(present),
        iothreads: present.iothreads,
      });
    },
  };
}

/** What a definition depends on besides the VM's spec. */
export type DomainHost = Omit<DiskHost, 'iothreads'> &
  CardPlaces & {
    platform: Platform;
    vhostNet: boolean;
    /** Whether QEMU can declare cliques for current GPUs. */
    hasCliques: boolean;
    /** Whether guests' memory may be locked: the agent has CAP_SYS_RESOURCE. */
    lockMemory: boolean;
    /** By the kernel's number. Empty: no NUMA. */
    numaNodes: readonly HostNode[];
    /** The pins of a running domain, which it keeps. Empty: it does not run. */
    runningPins: readonly string[];
    /** Null: no seed. */
    seedPath: string | null;
    nvramPath: string;
    serialLogPath: string;
    interfaceOf(iface: VmSpec['interfaces'][number]): { tap: string; mtu: number };
    /** The generation for which the domain runs; "0" before its first start. */
    generation: string;
    /** The sizes of the volumes that a running domain has open. Empty: it does not run. */
    volumes: DomainMetadata['volumes'];
  };

/** More queues do not help on links of 100 Gbit/s and cost memory on both sides. */
const MAX_QUEUES = 8;
/** With a single queue libvirt opens a tap in a mode that a multi-queue tap refuses. */
const MIN_QUEUES = 2;
const MAX_IOTHREADS = 4;
const CORES_PER_IOTHREAD = 8;

/** Makes every choice of the definition. Pure. */
export function describeDomain(vm: VmSpec, host: DomainHost): DomainDefinition {
  const pins = canPin(host.platform);
  const chosen = withRunningPins(chooseCells(vm, host.numaNodes), host.runningPins);
  const cells = pins ? chosen : chosen.map(withoutPins);
  const iothreads = iothreadsOf(vm);
  const cards = describeCards(vm, host, cells);
  return {
    metadata: {
      vmId: vm.id,
      revision: vm.revision,
      generation: host.generation,
      devices: vm.devices,
      volumes: host.volumes,
    },
    vm,
    platform: host.platform,
    hiddenCpuFeatures: hiddenFeatures(vm, host.platform),
    nvramPath: host.nvramPath,
    cells,
    threadsPerCore: threadsPerCore(cells, host.numaNodes),
    emulatorCpus: pins ? hostCpusOf(vm, host.numaNodes) : '',
    memory: {
      hugepageKib: chooseHugepages(cells, host.numaNodes),
      // VFIO pins all memory of a guest that has a PCI device of the host.
      locked: host.lockMemory && cards.some((card) => 'functions' in card),
    },
    iothreads,
    ...describeDisks(vm.disks, { ...host, iothreads }),
    seedPath: host.seedPath,
    interfaces: vm.interfaces.map((iface) => ({
      mac: iface.mac,
      ...host.interfaceOf(iface),
      vhost: host.vhostNet,
      queues: Math.max(MIN_QUEUES, Math.min(vm.cpuCores, MAX_QUEUES)),
    })),
    cards,
    serialLogPath: host.serialLogPath,
    mmio64Mib: host.mmio64Mib,
  };
}

/**
 * An emulator may run all vCPUs in one thread, and libvirt then refuses to start a pinned domain.
 */
function canPin({ accel }: Platform): boolean {
  return accel === 'kvm';
}

/** The definition of a running domain names the CPUs that it has, so that no other gets them. */
function withRunningPins(cells: readonly GuestCell[], pins: readonly string[]): GuestCell[] {
  if (pins.length !== cells.flatMap(({ vcpuPins }) => vcpuPins).length) return [...cells];
  let first = 0;
  return cells.map((cell) => {
    const vcpuPins = pins.slice(first, first + cell.vcpuPins.length);
    first += cell.vcpuPins.length;
    return { ...cell, vcpuPins };
  });
}

function withoutPins(cell: GuestCell): GuestCell {
  return { ...cell, vcpuPins: cell.vcpuPins.map(() => '') };
}

/**
 * A guest could otherwise run VMs whenever its host's KVM has nesting on, which is the default. A CPU
 * has one of the two features, and QEMU accepts that the other is turned off too. Guests on arm64 see
 * no virtualization unless the machine is defined with it.
 *
 * A CPU that QEMU 7.2 emulates with 57-bit addresses and without SVM is broken: system calls return wrong data to
 * programs of the guest.
 */
function hiddenFeatures(
  { nestedVirtualization }: VmSpec,
  { arch, accel }: Platform,
): readonly string[] {
  if (nestedVirtualization || arch !== 'x86_64') return [];
  return accel === 'tcg' ? ['vmx', 'svm', 'la57'] : ['vmx', 'svm'];
}

function iothreadsOf(vm: VmSpec): number {
  return Math.min(MAX_IOTHREADS, Math.ceil(vm.cpuCores / CORES_PER_IOTHREAD));
}

function describeCards(
  { devices }: VmSpec,
  host: DomainHost,
  cells: readonly GuestCell[],
): CardDefinition[] {
  const cards = devices.flatMap(({ address }) => {
    const node = host.nodeOf(address);
    const found = cells.findIndex(({ hostNode }) => hostNode !== null && hostNode === node);
    const cell = found < 0 ? null : found;
    return host.partsOf(address).map((part) => ({ part, cell, peers: host.peersOf(address) }));
  });
  const peers = choosePeers(cards);
  return cards.map(({ part, cell }, index) => {
    const { clique = null, guestSwitch = null } = peers[index] ?? {};
    return { ...part, cell, clique: host.hasCliques ? clique : null, guestSwitch };
  });
}
