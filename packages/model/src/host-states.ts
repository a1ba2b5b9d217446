/** Every state of hosts and their devices. The database checks the same lists. */

/** What the scheduler knows of a host. Fenced: an operator said that it is dead. */
export const HOST_STATES = ['ready', 'unreachable', 'fenced'] as const;
export type HostState = (typeof HOST_STATES)[number];

/**
 * What operators want of a host, whatever its state. Cordoned: it takes nothing new.
 * Draining: neither, and what it has is to leave.
 */
export const HOST_ADMIN_STATES = ['active', 'cordoned', 'draining'] as const;
export type HostAdminState = (typeof HOST_ADMIN_STATES)[number];

/**
 * What the scheduler knows of a GPU or a drive. Quarantined: it was not proven clean.
 * Missing: its host no longer finds it. Used by host: its host keeps its own things on it.
 */
export const DEVICE_STATES = ['ready', 'quarantined', 'missing', 'used_by_host'] as const;
export type DeviceState = (typeof DEVICE_STATES)[number];

export const DEVICE_KINDS = ['gpu', 'drive'] as const;
export type DeviceKind = (typeof DEVICE_KINDS)[number];
