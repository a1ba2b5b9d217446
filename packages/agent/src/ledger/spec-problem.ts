import { missingCapabilities } from '@gantry/model/agent-capabilities';
import { DEVICE_KINDS } from '@gantry/model/host-states';
import { AGENT_VERSION } from '../inventory/version.ts';
import type { DiskSpec, FirewallRule, HostSpec, NetworkSpec, VmSpec, VmTakeDown } from '../spec.ts';

const MONITOR = /^(?:\[[0-9a-fA-F:]+\]|[A-Za-z0-9.-]+):\d{1,5}$/;
/** Empty: the volume is not encrypted. */
const PASSPHRASE = /^[A-Za-z0-9_-]{0,128}$/;
const KEY = /^[A-Za-z0-9+/]+={0,2}$/;

/**
 * Returns the first violation of the proto's rules in a spec, or null. What is wrong with one VM is not
 * looked for here, because it must not keep the other VMs from being accepted.
 */
export function specProblem(spec: HostSpec): string | null {
  if (isZero(spec.number)) return 'its number is zero';
  const ids = new Set<string>();
  for (const vm of [...spec.vms, ...spec.takeDowns]) {
    if (vm.id === '') return 'a VM has no id';
    if (ids.has(vm.id)) return `VM ${vm.id} is in it twice`;
    ids.add(vm.id);
  }
  return (
    firstOf(spec.disks, diskProblem) ??
    firstOf(spec.firewallRules, ruleProblem) ??
    firstOf(spec.networks, networkProblem) ??
    (spec.deletedDisks.includes('') ? 'a disk to remove has no id' : null) ??
    snapshotProblem(spec)
  );
}

/** Returns what an entry needs and this version of the agent does not have, or null. */
export function ageProblem(needs: readonly string[]): string | null {
  const missing = missingCapabilities(needs);
  if (missing.length === 0) return null;
  return `it needs ${missing.join(', ')}, which agent ${AGENT_VERSION} does not have: update the agent`;
}

export function vmProblem(vm: VmSpec): string | null {
  if (isZero(vm.revision)) return `VM ${vm.id} has revision zero`;
  if (isZero(vm.generation)) return `VM ${vm.id} has generation zero`;
  if (vm.cpuCores === 0) return `VM ${vm.id} has no cores`;
  if (vm.memoryMib === 0) return `VM ${vm.id} has no memory`;
  if (vm.disks.length === 0) return `VM ${vm.id} has no disk`;
  const device = deviceProblem(vm);
  if (device !== null) return device;
  for (const iface of vm.interfaces) {
    if (iface.id === '' || iface.networkId === '') return `an interface of VM ${vm.id} has no id`;
    if (iface.mac === '' || iface.privateIpv4 === '') return `interface ${iface.id} has no address`;
  }
  return firstOf(vm.disks, diskProblem);
}

export function takeDownProblem(vm: VmTakeDown): string | null {
  if (isZero(vm.revision)) return `the take-down of VM ${vm.id} has revision zero`;
  const device = deviceProblem(vm);
  if (device !== null) return device;
  return vm.disks.includes('') ? `a disk to remove with VM ${vm.id} has no id` : null;
}

function diskProblem(disk: DiskSpec): string | null {
  if (disk.id === '') return 'a disk has no id';
  if (disk.kind === 'DISK_KIND_UNSPECIFIED') return `disk ${disk.id} has no kind`;
  if (isZero(disk.sizeBytes)) return `disk ${disk.id} has no size`;
  if (disk.cephfs) return shareProblem(disk.id, disk.cephfs);
  return disk.rbd ? volumeProblem(disk.id, disk.rbd) : null;
}

const NAME = /^[A-Za-z0-9][\w.-]*$/;

/** Names go into the settings of ceph-fuse, and the name of the key is that of a directory too. */
function shareProblem(diskId: string, share: NonNullable<DiskSpec['cephfs']>): string | null {
  const { monitors, fileSystem, pool, path, user, key } = share;
  const named = `the shared volume of disk ${diskId}`;
  if (monitors.length === 0) return `${named} has no monitors`;
  if (!monitors.every((monitor) => MONITOR.test(monitor)))
    return `${named} has a monitor without an address or a port`;
  if (!NAME.test(fileSystem)) return `${named} has no valid file system`;
  if (!NAME.test(pool)) return `${named} has no valid pool`;
  const [root, ...parts] = path.split('/');
  if (root !== '' || parts.length === 0 || !parts.every((part) => NAME.test(part)))
    return `${named} has no valid path`;
  if (!NAME.test(user)) return `${named} has no valid key name`;
  return KEY.test(key) ? null : `${named} has no valid key`;
}

function snapshotProblem({
  snapshots,
  deletedSnapshots,
  diskCopies,
  diskRestores,
  imageExports,
}: HostSpec): string | null {
  const isEmpty = (id: string) => id === '';
  if (snapshots.some(({ id, diskId }) => isEmpty(id) || isEmpty(diskId)))
    return 'a snapshot to make has no id or no disk';
  if (deletedSnapshots.some(isEmpty)) return 'a snapshot to remove has no id';
  for (const { disk, snapshotId } of diskCopies) {
    if (disk === null || isEmpty(snapshotId)) return 'a disk to copy has no snapshot';
    const bad = diskProblem(disk);
    if (bad !== null) return bad;
  }
  const isIncomplete = diskRestores.some(
    ({ id, diskId, snapshotId, sizeBytes }) =>
      [id, diskId, snapshotId].some(isEmpty) || isZero(sizeBytes),
  );
  if (isIncomplete) return 'a disk to set back has no id, no snapshot or no size';
  const isBad = imageExports.some(({ imageId, snapshotId }) => !imageId || !snapshotId);
  return isBad ? 'an image to send has no id or no snapshot' : null;
}

/** Names go into XML and on to QEMU: a slash in the pool's name would make another volume of it. */
function volumeProblem(diskId: string, volume: NonNullable<DiskSpec['rbd']>): string | null {
  const { monitors, pool, image, user, key, passphrase } = volume;
  const isBad = (name: string) => !NAME.test(name);
  if (monitors.length === 0) return `the volume of disk ${diskId} has no monitors`;
  if (!monitors.every((monitor) => MONITOR.test(monitor))) {
    return `the volume of disk ${diskId} has a monitor without an address or a port`;
  }
  if (isBad(pool)) return `the volume of disk ${diskId} has no valid pool`;
  if (isBad(image)) return `the volume of disk ${diskId} has no valid name`;
  if (isBad(user)) return `the volume of disk ${diskId} has no valid key name`;
  if (!KEY.test(key)) return `the volume of disk ${diskId} has no valid key`;
  return PASSPHRASE.test(passphrase)
    ? null
    : `the volume of disk ${diskId} has no valid passphrase`;
}

function ruleProblem(rule: FirewallRule): string | null {
  if (rule.id === '' || rule.networkId === '') return 'a firewall rule has no id or no network';
  if (rule.direction === 'DIRECTION_UNSPECIFIED') return `rule ${rule.id} has no direction`;
  if (rule.action === 'ACTION_UNSPECIFIED') return `rule ${rule.id} has no action`;
  return rule.protocols.length === 0 ? `rule ${rule.id} has no protocol` : null;
}

function networkProblem(network: NetworkSpec): string | null {
  if (network.id === '') return 'a network has no id';
  if (network.vni === 0) return `network ${network.id} has no number`;
  if (network.subnets.length === 0) return `network ${network.id} has no subnet`;
  const isUnknown = network.neighbours.some(({ privateIpv4, mac }) => !privateIpv4 || !mac);
  return isUnknown ? `a VM of network ${network.id} has no address` : null;
}

function isZero(number: string): boolean {
  return number === '0' || number === '';
}

function firstOf<T>(items: readonly T[], check: (item: T) => string | null): string | null {
  for (const item of items) {
    const bad = check(item);
    if (bad !== null) return bad;
  }
  return null;
}

/** A kind that this version of the agent does not know cannot be passed through or cleaned. */
function deviceProblem({ id, devices }: VmSpec | VmTakeDown): string | null {
  for (const { kind, address } of devices) {
    if (address === '') return `a device of VM ${id} has no address`;
    if (!DEVICE_KINDS.includes(kind)) return `VM ${id} has a device of the unknown kind "${kind}"`;
  }
  return null;
}
