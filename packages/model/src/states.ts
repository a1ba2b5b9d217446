/**
 * The lists of states and names of the contract, except those of VMs (see vm-life/). The database
 * checks the same lists.
 */

export const DISK_TYPES = ['persistent-ssd', 'shared-volume'] as const;
export type DiskType = (typeof DISK_TYPES)[number];
/** Those that guests use as block devices, so that their rates can be limited. */
export const LIMITED_DISK_TYPES = ['persistent-ssd'] as const satisfies readonly DiskType[];
/** What stores a disk: a storage cluster, or a host. */
export const DISK_STORAGES = ['network', 'local'] as const;
export const DISK_STATES = ['creating', 'ready', 'resizing', 'deleting'] as const;
export const SNAPSHOT_STATES = ['creating', 'ready', 'failed', 'deleting'] as const;
export type SnapshotState = (typeof SNAPSHOT_STATES)[number];
export const BACKUP_STATES = ['creating', 'ready', 'failed', 'deleting'] as const;
export type BackupState = (typeof BACKUP_STATES)[number];
/** An image of the catalogue is always ready. */
export const IMAGE_STATES = ['uploading', 'creating', 'ready', 'failed', 'deleted'] as const;
export type ImageState = (typeof IMAGE_STATES)[number];
/** Who can use an image. Images of the catalogue are public. */
export const IMAGE_VISIBILITIES = ['public', 'organization', 'project'] as const;
export const CUSTOM_IMAGE_VISIBILITIES = ['organization', 'project'] as const;
export type ImageVisibility = (typeof IMAGE_VISIBILITIES)[number];
export const IMAGE_FORMATS = ['raw', 'qcow2', 'vmdk'] as const;
export type ImageFormat = (typeof IMAGE_FORMATS)[number];
/** What is priced by GB-hour: each type of disk, snapshots, and images of projects. */
export const STORAGE_TYPES = [...DISK_TYPES, 'snapshot', 'image'] as const;
export const ATTACHMENT_TYPES = ['os', 'data'] as const;
export const ATTACHMENT_MODES = ['read-write', 'read-only'] as const;
export type AttachmentMode = (typeof ATTACHMENT_MODES)[number];

/** What becomes of a VM whose host has failed, once the host is fenced. */
export const ON_HOST_FAILURE = ['leave', 'restart'] as const;
export type OnHostFailure = (typeof ON_HOST_FAILURE)[number];

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
  'MOVE',
  'ATTACH_DISKS',
  'DETACH_DISKS',
  'RESTORE',
] as const;
export type OperationName = (typeof OPERATION_NAMES)[number];
export const RESOURCE_TYPES = [
  'vm',
  'disk',
  'vpc-firewall-rule',
  'snapshot',
  'backup',
  'image',
] as const;
export type ResourceType = (typeof RESOURCE_TYPES)[number];

/** What can happen to a resource without a request of its tenant. */
export const EVENT_TYPES = [
  'vm_crashed',
  'vm_unreachable',
  'vm_reachable',
  'vm_host_draining',
  'vm_host_fenced',
  'vm_restarted_elsewhere',
  'vm_moving',
  'vm_device_unhealthy',
  'vm_lost',
  'vm_orphaned',
  'vm_restored',
  'vm_organization_warned',
  'vm_organization_suspended',
  'vm_organization_resumed',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** What the event stream tells about. Only operators see hosts, devices and rollouts. */
export const STREAM_EVENT_TYPES = [
  'operation',
  'vm',
  'event',
  'host',
  'devices',
  'rollout',
  'rollout_host',
] as const;
export type StreamEventType = (typeof STREAM_EVENT_TYPES)[number];
/** Those that the stream of a project has; the others are for operators. */
export const PROJECT_STREAM_EVENT_TYPES = ['operation', 'vm', 'event'] as const;

export const DELIVERY_STATES = ['pending', 'delivered', 'failed'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** The roles, weakest first. Each role may do everything that the roles before it may do. */
export const ROLES = ['read-only', 'member', 'owner', 'operator'] as const;
export type Role = (typeof ROLES)[number];

export function roleReaches(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}

/** What operators may do: see everything; change what tenants have; change everything. */
export const OPERATOR_ROLES = ['read-only', 'support', 'admin'] as const;
export type OperatorRole = (typeof OPERATOR_ROLES)[number];

export function operatorRoleReaches(role: OperatorRole, needed: OperatorRole): boolean {
  return OPERATOR_ROLES.indexOf(role) >= OPERATOR_ROLES.indexOf(needed);
}

export const QUOTA_TYPES = [
  'vms',
  'gpus',
  'disks',
  'disk_gib',
  'snapshots',
  'snapshot_gib',
  'backups',
  'backup_gib',
  'images',
  'image_gib',
  'firewall_rules',
  'networks',
  'subnets',
  'access_keys',
  'public_addresses',
] as const;
export type QuotaType = (typeof QUOTA_TYPES)[number];

/** The quotas of a new project, until an operator changes them. */
export const DEFAULT_QUOTAS: Record<QuotaType, number> = {
  vms: 1_000,
  gpus: 4_000,
  disks: 2_000,
  disk_gib: 1_000_000,
  snapshots: 2_000,
  snapshot_gib: 1_000_000,
  backups: 5_000,
  backup_gib: 5_000_000,
  images: 200,
  image_gib: 100_000,
  firewall_rules: 500,
  networks: 20,
  subnets: 200,
  access_keys: 100,
  public_addresses: 20,
};

/**
 * What is limited for all projects of an organization together. Subnets are not: a project has one in
 * each location, and a new location must not fail because an organization has many projects.
 */
export const ORGANIZATION_QUOTA_TYPES = [
  'projects',
  'vms',
  'gpus',
  'disks',
  'disk_gib',
  'snapshots',
  'snapshot_gib',
  'backups',
  'backup_gib',
  'images',
  'image_gib',
  'firewall_rules',
  'networks',
  'access_keys',
  'public_addresses',
] as const;
export type OrganizationQuotaType = (typeof ORGANIZATION_QUOTA_TYPES)[number];

/**
 * The quotas of a new organization, until an operator changes them. One project can use all of its
 * own, and a second one too.
 */
export const DEFAULT_ORGANIZATION_QUOTAS: Record<OrganizationQuotaType, number> = {
  projects: 50,
  vms: 2_000,
  gpus: 8_000,
  disks: 4_000,
  disk_gib: 2_000_000,
  snapshots: 4_000,
  snapshot_gib: 2_000_000,
  backups: 10_000,
  backup_gib: 10_000_000,
  images: 400,
  image_gib: 200_000,
  firewall_rules: 2_000,
  networks: 200,
  access_keys: 1_000,
  public_addresses: 100,
};
