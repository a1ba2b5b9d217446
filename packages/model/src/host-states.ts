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

/** The word for one device of the kind in a sentence. */
export const DEVICE_WORDS: Record<DeviceKind, string> = { gpu: 'GPU', drive: 'drive' };
