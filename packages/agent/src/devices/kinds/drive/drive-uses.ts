import { join } from 'node:path';
import { HostFailure } from '../../../base/failure.ts';
import { type Mount, parseMountinfo } from '../../../base/mountinfo.ts';
import { Sysfs } from '../../../base/sysfs.ts';
import { type BlockDevice, listNamespaces, withHolders, withPartitions } from './block-devices.ts';
import { readSignature } from './drive-signatures.ts';
import { parseSwaps } from './swaps.ts';

type UsesOptions = {
  sysfs: Sysfs;
  procRoot: string;
  /** The folder of block devices, to read their signatures. Absent: nothing is read from them. */
  devRoot?: string;
};

/** A machine that loses one of these mounts does not boot again. */
const NEEDED_TO_BOOT = new Set(['/', '/boot', '/boot/efi', '/usr']);
/** The kernel counts in these units, independent of the drive's own block size. */
const SECTOR_BYTES = 512;

/**
 * Returns what the host uses an NVMe controller's namespaces, their partitions and everything built
 * on them for; a few words each. Empty: nothing, or the drive is not on the kernel's nvme driver.
 *
 * Without `devRoot` only current uses count. With it, signatures on an unused drive count too. A
 * tenant can write any signature, so a drive that is known to be a tenant's is read without
 * `devRoot`.
 */
export async function readDriveUses(options: UsesOptions, pciAddress: string): Promise<string[]> {
  const { sysfs } = options;
  const own: string[] = [];
  for (const namespace of await listNamespaces(sysfs, pciAddress)) {
    own.push(...(await withPartitions(sysfs, namespace)));
  }
  if (own.length === 0) return [];
  const { devices, holders } = await withHolders(sysfs, own);
  const uses = new Set([
    ...(await mountUses(options.procRoot, devices)),
    ...(await swapUses(options.procRoot, devices)),
    ...holders.filter(({ isPartition }) => !isPartition).map(describeHolder),
    ...(await btrfsUses(sysfs, devices)),
  ]);
  if (options.devRoot !== undefined && uses.size === 0) {
    for (const use of await signatureUses(sysfs, options.devRoot, own)) uses.add(use);
  }
  return [...uses];
}

/**
 * Reads the mounts of this process and of process 1: a service may see other mounts than the host.
 */
async function mountUses(procRoot: string, devices: readonly BlockDevice[]): Promise<string[]> {
  const proc = new Sysfs(procRoot);
  const own = await proc.text('self/mountinfo');
  if (own === undefined) {
    const message = `${procRoot}/self/mountinfo cannot be read: no drive is known to be free`;
    throw new HostFailure('host_failed', message);
  }
  const mounts = parseMountinfo(`${own}\n${(await proc.text('1/mountinfo')) ?? ''}`);
  const points = mounts.filter((mount) => isOnAny(mount, devices)).map((mount) => mount.mountPoint);
  const isBoot = (point: string) => NEEDED_TO_BOOT.has(point);
  return [
    ...points.filter(isBoot).map((point) => `the boot disk: mounted at ${point}`),
    ...points.filter((point) => !isBoot(point)).map((point) => `mounted at ${point}`),
  ];
}

function isOnAny({ majorMinor, source }: Mount, devices: readonly BlockDevice[]): boolean {
  return devices.some((device) => device.majorMinor === majorMinor || isNamed(source, device));
}

/** Whether a path in /dev belongs to this device, by its own name or by its device mapper name. */
function isNamed(path: string, { name, mapperName }: BlockDevice): boolean {
  return path === `/dev/${name}` || (mapperName !== '' && path === `/dev/mapper/${mapperName}`);
}

async function swapUses(procRoot: string, devices: readonly BlockDevice[]): Promise<string[]> {
  const swaps = parseSwaps((await new Sysfs(procRoot).text('swaps')) ?? '');
  const used = devices.filter((device) => swaps.some((path) => isNamed(path, device)));
  return used.map(({ name }) => `swap on ${name}`);
}

/** Finds members of mounted file systems, even if the mount names another member as its source. */
async function btrfsUses(sysfs: Sysfs, devices: readonly BlockDevice[]): Promise<string[]> {
  const uses: string[] = [];
  for (const uuid of await sysfs.list('fs/btrfs')) {
    const members = await sysfs.list(`fs/btrfs/${uuid}/devices`);
    if (devices.some(({ name }) => members.includes(name))) {
      uses.push(`part of the btrfs file system ${uuid}`);
    }
  }
  return uses;
}

function describeHolder({ name, mapperName, mapperUuid }: BlockDevice): string {
  if (/^md(\d|_)/.test(name)) return `in the RAID ${name}`;
  if (name.startsWith('bcache')) return `in the cache ${name}`;
  if (mapperUuid.startsWith('LVM-')) return `in the LVM volume ${mapperName} (${name})`;
  if (mapperUuid.startsWith('CRYPT-')) return `in the encrypted volume ${mapperName} (${name})`;
  if (mapperName !== '') return `in the mapped device ${mapperName} (${name})`;
  return `held by ${name}`;
}

async function signatureUses(
  sysfs: Sysfs,
  devRoot: string,
  names: readonly string[],
): Promise<string[]> {
  const uses: string[] = [];
  for (const name of names) {
    const sectors = (await sysfs.integer(`class/block/${name}/size`)) ?? 0;
    const signature = await signatureOrReason(join(devRoot, name), sectors * SECTOR_BYTES);
    if (signature) uses.push(`${signature} (${name})`);
  }
  return uses;
}

/** A device that cannot be read may be in use, so it does not count as free. */
async function signatureOrReason(path: string, sizeBytes: number): Promise<string | null> {
  try {
    return await readSignature(path, sizeBytes);
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? error.code : error;
    return `not readable: ${reason}`;
  }
}
