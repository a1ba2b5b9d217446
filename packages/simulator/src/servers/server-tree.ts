import { type SysfsTree, writeSysfsTree } from '@gantry/agent/base/sysfs-tree';
import { DEFAULT_CAPACITY } from '@gantry/agent/capacity/capacity-settings';
import { pagesToReserve } from '@gantry/agent/capacity/node-memory';
import { below, linked } from './card-sysfs.ts';
import { type PciFunction, pciFunctionsOf } from './pci-layout.ts';
import { NODES, type PciCard, type ServerModel, THREADS_PER_CORE } from './server-model.ts';

/** The memory of each node that the kernel uses for page tables. */
const KERNEL_SHARE = 1 / 64;
const KIB_PER_GIB = 1_048_576;

/** Writes the /sys tree that the server's kernel would show. */
export async function writeServerTree(root: string, model: ServerModel): Promise<void> {
  await writeSysfsTree(root, serverTree(model));
}

export function nodeMemoryKib(model: ServerModel): number {
  return model.memoryGibPerNode * KIB_PER_GIB * (1 - KERNEL_SHARE);
}

function serverTree(model: ServerModel): SysfsTree {
  const functions = pciFunctionsOf(model);
  const counts = new Map<PciCard, number>();
  return Object.assign(
    {
      'class/dmi/id/bios_version': model.firmware,
      'class/dmi/id/product_name': model.name,
      'devices/system/node/online': `0-${NODES.length - 1}`,
    },
    topologyTree(model),
    ...NODES.map((node) => nodeTree(model, node)),
    ...functions.map(functionTree),
    ...functions.map(({ card, ...place }) => {
      const index = counts.get(card) ?? 0;
      counts.set(card, index + 1);
      return card.sysfs?.({ ...place, index }) ?? {};
    }),
  );
}

/** The kernel numbers the first threads of all cores before the second threads. */
function topologyTree({ coresPerNode }: ServerModel): SysfsTree {
  const cores = NODES.length * coresPerNode;
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
function nodeTree(model: ServerModel, node: number): SysfsTree {
  const folder = `devices/system/node/node${node}`;
  const pages = `${folder}/hugepages`;
  const hugepages = [{ pageKib: KIB_PER_GIB, total: 0 }];
  const memory = { memoryBytes: nodeMemoryKib(model) * 1_024, hugepages };
  const reserved = pagesToReserve(
    NODES.map(() => memory),
    DEFAULT_CAPACITY,
  );
  const gibPages = `${reserved[node]?.pages}`;
  return {
    [`${folder}/cpulist`]: cpuListOf(model, node),
    [`${folder}/meminfo`]: `Node ${node} MemTotal:       ${nodeMemoryKib(model)} kB`,
    [`${pages}/hugepages-1048576kB/nr_hugepages`]: gibPages,
    [`${pages}/hugepages-1048576kB/free_hugepages`]: gibPages,
    [`${pages}/hugepages-2048kB/nr_hugepages`]: '0',
    [`${pages}/hugepages-2048kB/free_hugepages`]: '0',
  };
}

function cpuListOf({ coresPerNode }: ServerModel, node: number): string {
  const range = (from: number) => `${from}-${from + coresPerNode - 1}`;
  const first = node * coresPerNode;
  return `${range(first)},${range(NODES.length * coresPerNode + first)}`;
}

function functionTree({ address, path, numaNode, card, iommuGroup }: PciFunction): SysfsTree {
  const group = `kernel/iommu_groups/${iommuGroup}`;
  const driver = `bus/pci/drivers/${card.driver}`;
  const attributes: SysfsTree = {
    class: `0x${card.class}`,
    vendor: `0x${card.vendorId}`,
    device: `0x${card.deviceId}`,
    subsystem_vendor: `0x${card.subsystemVendorId}`,
    subsystem_device: `0x${card.subsystemDeviceId}`,
    numa_node: `${numaNode}`,
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
