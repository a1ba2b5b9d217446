/** The states of hosts and devices. The database checks the same lists. */

/** The state of a host, written by the scheduler. `fenced`: an operator declared it dead. */
export const HOST_STATES = ['ready', 'unreachable', 'fenced'] as const;
export type HostState = (typeof HOST_STATES)[number];

/**
 * The administrative state, written by operators. `cordoned`: the host takes no new VMs.
 * `draining`: it takes no new VMs, and its VMs should leave.
 */
export const HOST_ADMIN_STATES = ['active', 'cordoned', 'draining'] as const;
export type HostAdminState = (typeof HOST_ADMIN_STATES)[number];

/**
 * The state of a device, written by the scheduler. `quarantined`: it is not proven clean.
 * `missing`: its host no longer has it. `used_by_host`: its host stores its own data on it.
 */
export const DEVICE_STATES = ['ready', 'quarantined', 'missing', 'used_by_host'] as const;
export type DeviceState = (typeof DEVICE_STATES)[number];

/** The kinds of devices that VMs get whole, in the order in which a guest sees them. */
export const DEVICE_KINDS = ['gpu', 'drive'] as const;
export type DeviceKind = (typeof DEVICE_KINDS)[number];

/**
 * What operators see of a GPU. `free`: a new VM can get it now. `sold`: a VM has it. `cleaning`: its VM is stopped or
 * deleted, and the GPU has not been proven clean yet. `blocked`: no VM can get it, because of the GPU or of its host.
 */
export const GPU_USES = ['free', 'sold', 'cleaning', 'blocked'] as const;
export type GpuUse = (typeof GPU_USES)[number];

/** The word for one device of the kind in a sentence. */
export const DEVICE_WORDS: Record<DeviceKind, string> = { gpu: 'GPU', drive: 'drive' };

/**
 * How a host differed from the database when an era began. `absent`: the host did not run a VM that the
 * database has as running. `ahead`: the host had started or reset the VM later. `vm_changed`: it had the VM
 * with another name, type or address. `disk_attached`, `disk_detached` and `disk_grown`: what the host had
 * done to a disk. `disk_unknown`: a disk that only the host has. `disk_missing`: a disk of no running VM that the
 * host does not have. `network_changed`: it had other rules or
 * subnets of the network.
 */
export const DIFFERENCE_KINDS = [
  'absent',
  'ahead',
  'vm_changed',
  'disk_attached',
  'disk_detached',
  'disk_grown',
  'disk_unknown',
  'disk_missing',
  'network_changed',
] as const;
export type DifferenceKind = (typeof DIFFERENCE_KINDS)[number];

/**
 * What became of a VM that its host did not run. `pending`: its host has not reported it yet.
 * `started`: it runs again. `lost`: its host cannot run it. `gone`: it was stopped or deleted.
 */
export const DIFFERENCE_OUTCOMES = ['pending', 'started', 'lost', 'gone', 'none'] as const;
export type DifferenceOutcome = (typeof DIFFERENCE_OUTCOMES)[number];

/** What an operator can decide about an orphan: give it back to its project, or delete it. */
export const ORPHAN_DECISIONS = ['give_back', 'delete'] as const;
export type OrphanDecision = (typeof ORPHAN_DECISIONS)[number];
