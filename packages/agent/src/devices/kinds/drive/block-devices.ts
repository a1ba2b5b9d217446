import type { Sysfs } from '../../../base/sysfs.ts';

/** A block device of the kernel: a namespace, a partition of one, or what is built on them. */
export type BlockDevice = {
  /** nvme0n1p2, dm-3, md0 */
  name: string;
  isPartition: boolean;
  /** 259:2, as mountinfo writes it. Empty: the kernel shows none. */
  majorMinor: string;
  /** Its device mapper name: vg-data. Empty: it is not a device mapper device. */
  mapperName: string;
  /** The device mapper's UUID, which distinguishes LVM from encryption. Empty: as above. */
  mapperUuid: string;
};

const BLOCK = 'class/block';
/** nvme0n1, or nvme0c1n1 if several controllers lead to one namespace. */
const NAMESPACE = /^(nvme\d+)(?:c\d+)?(n\d+)$/;

/**
 * Returns the namespaces of a controller by the names under which they are used: a path of a
 * multipath namespace (nvme0c1n1) is hidden, and its head (nvme0n1) is used instead.
 */
export async function listNamespaces(sysfs: Sysfs, pciAddress: string): Promise<string[]> {
  const names = new Set<string>();
  const controllers = `bus/pci/devices/${pciAddress}/nvme`;
  for (const controller of await sysfs.list(controllers)) {
    for (const entry of await sysfs.list(`${controllers}/${controller}`)) {
      const [, subsystem, namespace] = NAMESPACE.exec(entry) ?? [];
      if (subsystem && namespace) names.add(`${subsystem}${namespace}`);
    }
  }
  return [...names];
}

/** A whole device and its partitions. */
export async function withPartitions(sysfs: Sysfs, name: string): Promise<string[]> {
  const entries = await sysfs.list(`${BLOCK}/${name}`);
  const partitions: string[] = [];
  for (const entry of entries) {
    const number = await sysfs.integer(`${BLOCK}/${name}/${entry}/partition`);
    if (number !== undefined) partitions.push(entry);
  }
  return [name, ...partitions];
}

/** Returns these devices and everything built on them, level by level, each once. */
export async function withHolders(
  sysfs: Sysfs,
  names: readonly string[],
): Promise<{ devices: BlockDevice[]; holders: BlockDevice[] }> {
  const found = new Map<string, BlockDevice>();
  const waiting = [...names];
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    if (found.has(name)) continue;
    found.set(name, await readBlockDevice(sysfs, name));
    const holders = await sysfs.list(`${BLOCK}/${name}/holders`);
    // A holder may have partitions too, for example an MD RAID with a partition table.
    for (const holder of holders) waiting.push(...(await withPartitions(sysfs, holder)));
  }
  const devices = [...found.values()];
  const isOwn = ({ name }: BlockDevice) => names.includes(name);
  return { devices, holders: devices.filter((device) => !isOwn(device)) };
}

async function readBlockDevice(sysfs: Sysfs, name: string): Promise<BlockDevice> {
  const attribute = async (path: string) => (await sysfs.text(`${BLOCK}/${name}/${path}`)) ?? '';
  return {
    name,
    isPartition: (await attribute('partition')) !== '',
    majorMinor: await attribute('dev'),
    mapperName: await attribute('dm/name'),
    mapperUuid: await attribute('dm/uuid'),
  };
}
