/** Every state of the contract, and the facts they are derived from. The database checks the same lists. */

export const VM_STATES = [
  'STATE_CREATING',
  'STATE_RUNNING',
  'STATE_STOPPING',
  'STATE_SHUTOFF',
  'STATE_STARTING',
  'STATE_RESETTING',
  'STATE_CRASHED',
  'STATE_UNREACHABLE',
  'STATE_ERROR',
  'STATE_DELETING',
] as const;
export type VmState = (typeof VM_STATES)[number];

/** What the api wants of a VM. */
export const VM_DESIRED_STATES = ['running', 'stopped', 'deleted'] as const;
/** What its host last reported: `none` until it was built for the first time. */
export const VM_OBSERVED_STATES = ['none', 'running', 'stopped', 'crashed', 'failed'] as const;

export const DISK_TYPES = ['persistent-ssd', 'shared-volume'] as const;
export type DiskType = (typeof DISK_TYPES)[number];
export const DISK_STATES = ['creating', 'ready', 'resizing', 'deleting'] as const;
export const ATTACHMENT_TYPES = ['os', 'data'] as const;
export const ATTACHMENT_MODES = ['read-write', 'read-only'] as const;
export type AttachmentMode = (typeof ATTACHMENT_MODES)[number];

export const FIREWALL_RULE_STATES = ['pending', 'active', 'deleting'] as const;
export const DIRECTIONS = ['ingress', 'egress'] as const;
export const ACTIONS = ['allow', 'deny'] as const;
export const PROTOCOLS = ['tcp', 'udp', 'icmp'] as const;

export const OPERATION_STATES = ['IN_PROGRESS', 'SUCCEEDED', 'FAILED'] as const;
export type OperationState = (typeof OPERATION_STATES)[number];
export const OPERATION_NAMES = [
  'CREATE',
  'UPDATE',
  'DELETE',
  'START',
  'STOP',
  'RESET',
  'ATTACH_DISKS',
  'DETACH_DISKS',
] as const;
export type OperationName = (typeof OPERATION_NAMES)[number];
export const RESOURCE_TYPES = ['vm', 'disk', 'vpc-firewall-rule'] as const;
export type ResourceType = (typeof RESOURCE_TYPES)[number];

/** What can happen to a resource without being asked for. */
export const EVENT_TYPES = [
  'vm_crashed',
  'vm_unreachable',
  'vm_reachable',
  'vm_host_draining',
  'vm_host_fenced',
  'vm_device_unhealthy',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** Which VM action is allowed in which state. DELETE works in every one. */
export const VM_ACTIONS = {
  START: ['STATE_SHUTOFF', 'STATE_CRASHED', 'STATE_ERROR'],
  STOP: ['STATE_RUNNING'],
  RESET: ['STATE_RUNNING'],
  CHANGE_TYPE: ['STATE_SHUTOFF'],
  ATTACH_DISKS: ['STATE_RUNNING', 'STATE_SHUTOFF'],
  DETACH_DISKS: ['STATE_RUNNING', 'STATE_SHUTOFF'],
} as const satisfies Record<string, readonly VmState[]>;
export type VmAction = keyof typeof VM_ACTIONS;

export function vmAllows(action: VmAction, state: VmState): boolean {
  return (VM_ACTIONS[action] as readonly VmState[]).includes(state);
}

/** Roles, weakest first: each may do what the ones before it may. */
export const ROLES = ['read-only', 'member', 'owner', 'operator'] as const;
export type Role = (typeof ROLES)[number];

export function roleReaches(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}

export const QUOTA_TYPES = [
  'vms',
  'gpus',
  'disks',
  'disk_gib',
  'firewall_rules',
  'networks',
  'subnets',
  'access_keys',
] as const;
export type QuotaType = (typeof QUOTA_TYPES)[number];

/** What a new project may have until an operator says otherwise. */
export const DEFAULT_QUOTAS: Record<QuotaType, number> = {
  vms: 1_000,
  gpus: 4_000,
  disks: 2_000,
  disk_gib: 1_000_000,
  firewall_rules: 500,
  networks: 20,
  subnets: 200,
  access_keys: 100,
};
