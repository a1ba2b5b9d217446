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
 * The state of a GPU or a drive, written by the scheduler. `quarantined`: it is not proven clean.
 * `missing`: its host no longer has it. `used_by_host`: its host stores its own data on it.
 */
export const DEVICE_STATES = ['ready', 'quarantined', 'missing', 'used_by_host'] as const;
export type DeviceState = (typeof DEVICE_STATES)[number];

export const DEVICE_KINDS = ['gpu', 'drive'] as const;
export type DeviceKind = (typeof DEVICE_KINDS)[number];
