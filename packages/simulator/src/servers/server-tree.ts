import { type SysfsTree, writeSysfsTree } from '@gantry/agent/base/sysfs-tree';
import { DEFAULT_CAPACITY } from '@gantry/agent/capacity/capacity-settings';
import { pagesToReserve } from '@gantry/agent/capacity/node-memory';
import { below, linked } from './card-sysfs.ts';
import { type PciFunction, pciFunctionsOf } from './pci-layout.ts';
import {
  type PciCard,
  type ServerModel,
  type ServerNode,
  THREADS_PER_CORE,
} from './server-model.ts';

/** The memory of each node that the kernel uses for page tables. */
const KERNEL_SHARE = 1 / 64;
const KIB_PER_GIB = 1_048_576;

/** Writes the /sys tree that the server's kernel would show. */
export async function writeServerTree(root: string, model: ServerModel): Promise<void> {
  await writeSysfsTree(root, serverTree(model));
}

export function nodeMemoryKib({ memoryGib }: ServerNode): number {
  return memoryGib * KIB_PER_GIB * (1 - KERNEL_SHARE);
}

function serverTree(model: ServerModel): SysfsTree {
  const functions = pciFunctionsOf(model);
  const counts = new Map<PciCard, number>();
  return Object.assign(
    {
      'class/dmi/id/bios_version': model.firmware,
      'class/dmi/id/product_name': model.name,
      'devices/system/node/online': `0-${model.nodes.length - 1}`,
    },
    topologyTree(model),
    ...model.nodes.map((node, i) => nodeTree(model, node, i)),
    ...functions.map((one) => functionTree(model, one)),
    ...functions.map(({ card, ...place }) => {
      const index = counts.get(card) ?? 0;
      counts.set(card, index + 1);
      return card.sysfs?.({ ...place, index }) ?? {};
    }),
  );
}

/** The kernel numbers the first threads of all cores before the second threads. */
function topologyTree({ nodes }: ServerModel): SysfsTree {
  const cores = coresOf(nodes);
  const threads = cores * THREADS_PER_CORE;
  const siblingsOf = (cpu: number) =>
    Array.from({ length: THREADS_PER_CORE }, (_, thread) => (cpu % cores) + thread * cores);
  return Object.fromEntries([
    ['devices/system/cpu/online', `0-${threads - 1}`],
    ...Array.from({ length: threads }, (_, cpu) => [
      `devices/system/cpu/cpu${cpu}/topology/thread_siblings_list`,
      siblingsOf(cpu).join(),
    ]),
  ]);
}

/** Its pages are those that the agent reserves when the server boots. */
function nodeTree(model: ServerModel, node: ServerNode, number: number): SysfsTree {
  const folder = `devices/system/node/node${number}`;
  const pages = `${folder}/hugepages`;
  const hugepages = [{ pageKib: KIB_PER_GIB, total: 0 }];
  const reserved = pagesToReserve(
    model.nodes.map((one) => ({ memoryBytes: nodeMemoryKib(one) * 1_024, hugepages })),
    DEFAULT_CAPACITY,
  );
  const gibPages = `${reserved[number]?.pages}`;
  const cpus = cpuListOf(model, number);
  const [firstCpu] = cpus.split('-');
  return {
    [`${folder}/cpulist`]: cpus,
    [`${folder}/distance`]: model.nodes.map((to) => distanceBetween(node, to)).join(' '),
    [`devices/system/cpu/cpu${firstCpu}/topology/physical_package_id`]: `${node.socket}`,
    [`${folder}/meminfo`]: `Node ${number} MemTotal:       ${nodeMemoryKib(node)} kB`,
    [`${pages}/hugepages-1048576kB/nr_hugepages`]: gibPages,
    [`${pages}/hugepages-1048576kB/free_hugepages`]: gibPages,
    [`${pages}/hugepages-2048kB/nr_hugepages`]: '0',
    [`${pages}/hugepages-2048kB/free_hugepages`]: '0',
  };
}

/** As the firmware of EPYC reports them. */
function distanceBetween(from: ServerNode, to: ServerNode): number {
  if (from === to) return 10;
  return from.socket === to.socket ? 12 : 32;
}

function cpuListOf({ nodes }: ServerModel, number: number): string {
  const cores = nodes[number]?.cores ?? 0;
  const range = (from: number) => `${from}-${from + cores - 1}`;
  const first = coresOf(nodes.slice(0, number));
  return `${range(first)},${range(coresOf(nodes) + first)}`;
}

function coresOf(nodes: readonly ServerNode[]): number {
  return nodes.reduce((sum, { cores }) => sum + cores, 0);
}

function functionTree(
  { hidesNodesOfDevices }: ServerModel,
  { address, path, numaNode, card, iommuGroup }: PciFunction,
): SysfsTree {
  const group = `kernel/iommu_groups/${iommuGroup}`;
  const driver = `bus/pci/drivers/${card.driver}`;
  const attributes: SysfsTree = {
    class: `0x${card.class}`,
    vendor: `0x${card.vendorId}`,
    device: `0x${card.deviceId}`,
    subsystem_vendor: `0x${card.subsystemVendorId}`,
    subsystem_device: `0x${card.subsystemDeviceId}`,
    numa_node: hidesNodesOfDevices ? '-1' : `${numaNode}`,
    current_link_speed: `${card.linkGts} GT/s PCIe`,
    current_link_width: `${card.linkWidth}`,
    max_link_speed: `${card.linkGts} GT/s PCIe`,
    max_link_width: `${card.linkWidth}`,
    aer_dev_correctable: 'RxErr 0\nTOTAL_ERR_COR 0',
    aer_dev_nonfatal: 'Undefined 0\nTOTAL_ERR_NONFATAL 0',
    aer_dev_fatal: 'Undefined 0\nTOTAL_ERR_FATAL 0',
    ...(card.resetMethods !== '' && { reset_method: card.resetMethods }),
  };
  return {
    ...below(path, attributes),
    ...linked(`${path}/iommu_group`, group),
    ...linked(`${path}/driver`, driver),
    ...linked(`${group}/devices/${address}`, path),
    ...linked(`${driver}/${address}`, path),
    ...linked(`bus/pci/devices/${address}`, path),
  };
}
