import type { RunProgram } from '../../../base/run-program.ts';
import type { Sysfs } from '../../../base/sysfs.ts';
import { type BlockDevice, listNamespaces, withHolders, withPartitions } from './block-devices.ts';

type Dismantling = {
  sysfs: Sysfs;
  run: RunProgram;
  address: string;
  /** The addresses of all drives that VMs have. */
  assigned: readonly string[];
};

/**
 * Stops the RAIDs and mapped devices that the host has assembled from drives of VMs, for example
 * because it booted before it knew whose drives these are. The data on the drives is not changed.
 *
 * A device that has a member elsewhere is left alone, because it may be the host's. A device that is in
 * use cannot be stopped, and the program's failure says so.
 */
export async function dismantle({ sysfs, run, address, assigned }: Dismantling): Promise<void> {
  const tenants = new Set<string>();
  for (const each of assigned) for (const name of await blocksOf(sysfs, each)) tenants.add(name);
  const { holders } = await withHolders(sysfs, await blocksOf(sysfs, address));
  // What was found last is on top of the others.
  for (const holder of holders.reverse()) {
    const stop = stopCommand(holder);
    if (stop && (await isOnly(sysfs, holder.name, tenants))) await run(...stop);
  }
}

async function blocksOf(sysfs: Sysfs, address: string): Promise<string[]> {
  const namespaces = await listNamespaces(sysfs, address);
  return (await Promise.all(namespaces.map((name) => withPartitions(sysfs, name)))).flat();
}

/** Returns whether a device consists of nothing but these, directly or through other devices. */
async function isOnly(sysfs: Sysfs, name: string, allowed: ReadonlySet<string>): Promise<boolean> {
  if (allowed.has(name)) return true;
  const members = await sysfs.list(`class/block/${name}/slaves`);
  if (members.length === 0) return false;
  for (const member of members) if (!(await isOnly(sysfs, member, allowed))) return false;
  return true;
}

function stopCommand(device: BlockDevice): [program: string, args: string[]] | null {
  if (device.isPartition) return null;
  if (device.mapperName !== '') return ['dmsetup', ['remove', device.mapperName]];
  return /^md(\d|_)/.test(device.name) ? ['mdadm', ['--stop', `/dev/${device.name}`]] : null;
}
