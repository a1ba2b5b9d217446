import type { VmSpec } from '../../../spec.ts';
import { drive, gpu, makeDisk, makeInterface, makeVm } from '../../../testing/make-spec.ts';
import type { FileSource } from '../../../volumes/disk-source.ts';
import type { HostNode } from '../choose-cells.ts';
import type { DomainHost } from '../describe-domain.ts';
import type { Platform } from '../domain-definition.ts';

/**
 * A typical GPU server: two nodes with 32 cores of two threads each, ten cards and eight drives, half
 * of them on each node, and memory in pages of 1 GiB.
 */
export const X86_KVM: Platform = {
  arch: 'x86_64',
  machine: 'q35',
  machineType: 'q35',
  accel: 'kvm',
  cpu: 'host-passthrough',
  threadsFeature: 'topoext',
  gic: 'host',
  emulator: '/usr/bin/qemu-system-x86_64',
  firmware: {
    loader: '/usr/share/OVMF/OVMF_CODE_4M.fd',
    nvramTemplate: '/usr/share/OVMF/OVMF_VARS_4M.fd',
  },
};

export const ARM_KVM: Platform = {
  arch: 'aarch64',
  machine: 'virt',
  machineType: 'virt',
  accel: 'kvm',
  cpu: 'host-passthrough',
  gic: 'host',
  emulator: '/usr/bin/qemu-system-aarch64',
  firmware: {
    loader: '/usr/share/AAVMF/AAVMF_CODE.fd',
    nvramTemplate: '/usr/share/AAVMF/AAVMF_VARS.fd',
  },
};

/** The same without KVM, for hosts with another processor or without KVM. */
export function emulated(platform: Platform): Platform {
  return { ...platform, accel: 'tcg', cpu: 'maximum', gic: '3' };
}

const NODES = 2;
const CORES_PER_NODE = 32;
const CARDS_PER_NODE = 5;
const DRIVES_PER_NODE = 4;
const GIB_KIB = 1_024 * 1_024;

export const VM_ID = '8d0f1c52-6a3e-4f0b-9c47-2b5d8e6f7a10';
const IMAGE_PATH = `/var/lib/gantry/images/${'0123456789abcdef'.repeat(4)}.img`;
const OS_DISK_ID = '51c7d0de-3f7a-4d61-8f3e-0d9b3a2c4e11';
const DATA_DISK_ID = 'c3a1b7f4-58d2-4e9c-a6b0-7f1e2d3c4b52';
const SHARED_ID = '2f9e8d7c-6b5a-4c3d-8e1f-0a9b8c7d6e53';
const INTERFACE_ID = 'e4d3c2b1-a098-4f7e-8d6c-5b4a39281754';

const gpuAddress = (index: number) => `0000:${(0x21 + index).toString(16)}:00.0`;
const nvmeAddress = (index: number) => `0000:${(0x61 + index).toString(16)}:00.0`;

/** The OS disk lies over an image; other disks are raw. */
function fileOf(id: string): FileSource {
  const path = `/var/lib/gantry/disks/${id}`;
  if (id !== OS_DISK_ID) return { type: 'file', path: `${path}.raw`, format: 'raw', backing: null };
  const backing = { path: IMAGE_PATH, format: 'qcow2' as const };
  return { type: 'file', path: `${path}.qcow2`, format: 'qcow2', backing };
}

export function gpuServer(platform: Platform, host: Partial<DomainHost> = {}): DomainHost {
  return {
    platform,
    vhostNet: true,
    directIo: true,
    lockMemory: true,
    numaNodes: [hostNode(0), hostNode(1)],
    runningPins: [],
    sourceOf: ({ id, kind }) =>
      kind === 'DISK_KIND_SHARED_VOLUME'
        ? { type: 'directory', path: `/var/lib/gantry/shared/${id}` }
        : fileOf(id),
    seedPath: `/var/lib/gantry/seeds/${VM_ID}.iso`,
    nvramPath: `/var/lib/gantry/nvram/${VM_ID}.fd`,
    serialLogPath: `/var/log/gantry/serial/${VM_ID}.log`,
    interfaceOf: () => ({ tap: 'gtap0123456789a', mtu: 1_450 }),
    partsOf: (address) => {
      const functions = gpuIndexOf(address) < 0 ? [address] : [address, address.replace(/0$/, '1')];
      return [{ functions }];
    },
    nodeOf: (address) => {
      const gpu = gpuIndexOf(address);
      if (gpu >= 0) return Math.floor(gpu / CARDS_PER_NODE);
      return Math.floor((Number.parseInt(address.slice(5, 7), 16) - 0x61) / DRIVES_PER_NODE);
    },
    peersOf: () => null,
    hasCliques: true,
    mmio64Mib: 2 ** 20,
    generation: '0',
    volumes: [],
    slots: new Map(),
    ...host,
  };
}

/** The kernel numbers the first threads of all cores before the second threads. All are free. */
function hostNode(id: number): HostNode {
  const first = id * CORES_PER_NODE;
  const [own = [], ...cores] = Array.from({ length: CORES_PER_NODE }, (_, core) => [
    first + core,
    first + core + NODES * CORES_PER_NODE,
  ]);
  const hugepages = [{ pageKib: GIB_KIB, total: 900 }];
  return { id, hugepages, cores, hostCpus: own.join(), vcpuPins: cores.flat().map(String) };
}

/** The GPUs of each node below one switch, except the last, which has a root port of its own. */
export function switchOf(address: string) {
  const index = gpuIndexOf(address);
  if (index < 0 || index % CARDS_PER_NODE === CARDS_PER_NODE - 1) return null;
  const name = `switch-${Math.floor(index / CARDS_PER_NODE)}`;
  return { group: name, switch: name };
}

function gpuIndexOf(address: string): number {
  const index = Number.parseInt(address.slice(5, 7), 16) - 0x21;
  return index >= 0 && index < NODES * CARDS_PER_NODE ? index : -1;
}

type Size = { cpuCores: number; memoryGb: number; gpuCount: number; diskCount: number };

/** A VM of a type, on one node if it fits there and otherwise evenly on both. */
export function vmOfType(size: Size): VmSpec {
  const nodes = size.gpuCount > CARDS_PER_NODE || size.diskCount > DRIVES_PER_NODE ? NODES : 1;
  const onNodes = (count: number, perNode: number) =>
    Array.from({ length: count }, (_, index) => {
      const node = Math.floor((index * nodes) / count);
      return node * perNode + (index - Math.ceil((node * count) / nodes));
    });
  const memoryMib = size.memoryGb * 1_024;
  return makeVm(VM_ID, {
    name: 'training-1',
    revision: '7',
    generation: '3',
    cpuCores: size.cpuCores,
    memoryMib,
    devices: [
      ...onNodes(size.gpuCount, CARDS_PER_NODE).map((index) => gpu(gpuAddress(index))),
      ...onNodes(size.diskCount, DRIVES_PER_NODE).map((index) => drive(nvmeAddress(index))),
    ],
    disks: [
      makeDisk(OS_DISK_ID, { serialNumber: '51c7d0de3f7a4d618f3e' }),
      makeDisk(DATA_DISK_ID, { serialNumber: 'c3a1b7f458d24e9ca6b0', blockSize: 4_096 }),
      makeDisk(SHARED_ID, { kind: 'DISK_KIND_SHARED_VOLUME', serialNumber: '2f9e8d7c6b5a' }),
    ],
    interfaces: [makeInterface(INTERFACE_ID, { mac: '02:5e:10:00:00:01' })],
    numaShares: Array.from({ length: nodes }, (_, node) => ({
      node,
      cpuCores: size.cpuCores / nodes,
      memoryMib: memoryMib / nodes,
    })),
  });
}
