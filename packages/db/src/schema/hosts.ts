import { DEVICE_STATES, HOST_ADMIN_STATES, HOST_STATES } from '@gantry/model/host-states';
import { sql } from 'drizzle-orm';
import {
  bigint,
  check,
  index,
  inet,
  integer,
  pgTable,
  text,
  unique,
  uuid,
} from 'drizzle-orm/pg-core';
import { locations } from './catalogue.ts';
import { createdAt, id, moment, oneOf } from './columns.ts';
import { subnets } from './networks.ts';
import { networkInterfaces, vms } from './vms.ts';

/**
 * Hosts, their devices, and who has them. Writer: scheduler, except what is marked "api": what
 * operators want stands beside what the scheduler knows, and neither overwrites the other.
 * A claim's primary key is the thing claimed, so that no two VMs can have one device.
 */

/** Rows are inserted by the scheduler and removed by the api, once nothing is placed there. */
export const hosts = pgTable(
  'hosts',
  {
    id: id(),
    location: text('location')
      .notNull()
      .references(() => locations.name),
    name: text('name').notNull(),
    state: text('state').notNull().default('ready'),
    lastSeenAt: moment('last_seen_at'),
    createdAt: createdAt(),
    // api:
    adminState: text('admin_state').notNull().default('active'),
  },
  (t) => [
    unique('hosts_name_key').on(t.name),
    index('hosts_location').on(t.location),
    oneOf('hosts_state', t.state, HOST_STATES),
    oneOf('hosts_admin_state', t.adminState, HOST_ADMIN_STATES),
  ],
);

/** The operator's reason to keep a device from new VMs, whatever its state; empty: there is none. */
const quarantineReason = () => text('quarantine_reason').notNull().default('');

/** Goes with its host; a claim on it keeps both. So does a drive. */
export const gpus = pgTable(
  'gpus',
  {
    id: id(),
    hostId: uuid('host_id')
      .notNull()
      .references(() => hosts.id, { onDelete: 'cascade' }),
    pciAddress: text('pci_address').notNull(),
    /** As VM types name it, such as "A40 48GB PCIe". */
    model: text('model').notNull(),
    numaNode: integer('numa_node').notNull(),
    state: text('state').notNull().default('ready'),
    // api:
    quarantineReason: quarantineReason(),
  },
  (t) => [
    unique('gpus_address_key').on(t.hostId, t.pciAddress),
    oneOf('gpus_state', t.state, DEVICE_STATES),
  ],
);

export const drives = pgTable(
  'drives',
  {
    id: id(),
    hostId: uuid('host_id')
      .notNull()
      .references(() => hosts.id, { onDelete: 'cascade' }),
    pciAddress: text('pci_address').notNull(),
    sizeGb: integer('size_gb').notNull(),
    numaNode: integer('numa_node').notNull(),
    state: text('state').notNull().default('ready'),
    // api:
    quarantineReason: quarantineReason(),
  },
  (t) => [
    unique('drives_address_key').on(t.hostId, t.pciAddress),
    oneOf('drives_state', t.state, DEVICE_STATES),
  ],
);

/** Where a VM is. `epoch` is that of the location's lease the decision was made under. */
export const placements = pgTable(
  'placements',
  {
    vmId: uuid('vm_id')
      .primaryKey()
      .references(() => vms.id),
    hostId: uuid('host_id')
      .notNull()
      .references(() => hosts.id),
    epoch: bigint('epoch', { mode: 'number' }).notNull(),
    createdAt: createdAt(),
  },
  (t) => [index('placements_host').on(t.hostId)],
);

export const gpuClaims = pgTable(
  'gpu_claims',
  {
    gpuId: uuid('gpu_id')
      .primaryKey()
      .references(() => gpus.id),
    vmId: uuid('vm_id')
      .notNull()
      .references(() => placements.vmId),
  },
  (t) => [index('gpu_claims_vm').on(t.vmId)],
);

export const driveClaims = pgTable(
  'drive_claims',
  {
    driveId: uuid('drive_id')
      .primaryKey()
      .references(() => drives.id),
    vmId: uuid('vm_id')
      .notNull()
      .references(() => placements.vmId),
  },
  (t) => [index('drive_claims_vm').on(t.vmId)],
);

/** A VM's private address: it keeps it over stop and start. */
export const addressClaims = pgTable(
  'address_claims',
  {
    networkInterfaceId: uuid('network_interface_id')
      .primaryKey()
      .references(() => networkInterfaces.id),
    subnetId: uuid('subnet_id')
      .notNull()
      .references(() => subnets.id),
    address: inet('address').notNull(),
  },
  (t) => [unique('address_claims_address_key').on(t.subnetId, t.address)],
);

/** The pools operators gave (api); a public address is an interface's while its row names it (scheduler). */
export const publicAddresses = pgTable(
  'public_addresses',
  {
    id: id(),
    location: text('location')
      .notNull()
      .references(() => locations.name),
    address: inet('address').notNull(),
    networkInterfaceId: uuid('network_interface_id').references(() => networkInterfaces.id),
  },
  (t) => [
    unique('public_addresses_address_key').on(t.address),
    unique('public_addresses_interface_key').on(t.networkInterfaceId),
    check('public_addresses_single', sql`masklen(${t.address}) = 32`),
  ],
);

/**
 * What a new host proves with that an operator let it in: used once. Writer: api, except the columns
 * under "scheduler". The token itself is known to nobody but whom it was shown to.
 */
export const joinTokens = pgTable(
  'join_tokens',
  {
    id: id(),
    /** SHA-256 of the token: it has 192 random bits, so a slow hash would add nothing. */
    hash: text('hash').notNull(),
    location: text('location')
      .notNull()
      .references(() => locations.name),
    /** The operator who made it; no reference, because the answer outlives the user. */
    createdBy: uuid('created_by').notNull(),
    createdAt: createdAt(),
    expiresAt: moment('expires_at').notNull(),
    // scheduler:
    usedAt: moment('used_at'),
    /** The host that used it; null again once the host is removed. */
    hostId: uuid('host_id').references(() => hosts.id, { onDelete: 'set null' }),
  },
  (t) => [
    unique('join_tokens_hash_key').on(t.hash),
    index('join_tokens_host').on(t.hostId),
    check('join_tokens_use', sql`${t.hostId} is null or ${t.usedAt} is not null`),
  ],
);
