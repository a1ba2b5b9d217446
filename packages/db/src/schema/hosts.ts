import type { DeviceProblem } from '@gantry/model/device-problem';
import {
  DEVICE_KINDS,
  DEVICE_STATES,
  HOST_ADMIN_STATES,
  HOST_STATES,
} from '@gantry/model/host-states';
import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  check,
  index,
  inet,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  unique,
  uuid,
} from 'drizzle-orm/pg-core';
import { locations } from './catalogue.ts';
import { createdAt, id, moment, oneOf } from './columns.ts';
import { networkInterfaces } from './vms.ts';

/**
 * Hosts and their devices. Writer: scheduler, except the columns under "api": desired state and
 * observed state are in separate columns, and each has one writer.
 */

/** `since` is by the clock of the host; null if it is not known. */
export type UnresponsiveVm = { vmId: string; message: string; since: string | null };

/** One line of what `gantry-agent doctor` prints. */
export type DoctorFinding = { severity: 'ok' | 'warn' | 'fail'; check: string; message: string };

/** The total capacity of a NUMA node for VMs, used or not. */
export type NumaNodeTotals = {
  node: number;
  /** Absent: not known. */
  socket?: number;
  /** The kernel's distances to all nodes of the host, by number. Absent: not known. */
  distances?: number[];
  cores: number;
  memoryMib: number;
  networkGbps: number;
};

/** The scheduler inserts rows; the api removes them if nothing is placed on the host. */
export const hosts = pgTable(
  'hosts',
  {
    id: id(),
    location: text('location')
      .notNull()
      .references(() => locations.name),
    name: text('name').notNull(),
    state: text('state').notNull().default('ready'),
    /**
     * When its last stream ended. While it has a stream, the scheduler's row shows that it is
     * alive.
     */
    lastSeenAt: moment('last_seen_at'),
    /** The scheduler that holds its stream; null while it has none. */
    schedulerId: uuid('scheduler_id'),
    /** Increases with every stream; only reports of the newest stream are accepted. */
    streamEpoch: bigint('stream_epoch', { mode: 'number' }).notNull().default(0),
    /** The fingerprint of the authority of the certificate with which it last attached. */
    certificateAuthority: text('certificate_authority').notNull().default(''),
    /** The number of the last spec that its agent accepted. */
    acceptedNumber: bigint('accepted_number', { mode: 'number' }).notNull().default(0),
    /**
     * Why its agent refused a spec, and VMs on the host that no spec names; both are usually empty.
     */
    refusal: text('refusal').notNull().default(''),
    /** Why it does not take its spec, besides a refusal; empty if it does. */
    impairment: text('impairment').notNull().default(''),
    /** How many VMs in a row it could not build for reasons of its own; the last one, and when. */
    failedBuilds: integer('failed_builds').notNull().default(0),
    buildFailedVmId: uuid('build_failed_vm_id'),
    buildFailedAt: moment('build_failed_at'),
    /** Why no new VM is placed on it although it is connected; empty if there is no reason. */
    trouble: text('trouble')
      .notNull()
      .generatedAlwaysAs(
        sql`case when refusal <> '' then 'its agent refuses its desired state: ' || refusal
          when impairment <> '' then impairment
          when failed_builds >= 2 then 'it could not build the last ' || failed_builds || ' VMs'
          else '' end`,
      ),
    /** An era has begun, and the host has not reported what it has since: no VM is placed on it. */
    awaitsEra: boolean('awaits_era').notNull().default(false),
    /**
     * An era has begun, and what the host had before it was not compared with the database yet. Until
     * then the host gets no spec, because it would change what is to be compared.
     */
    awaitsComparison: boolean('awaits_comparison').notNull().default(false),
    unknownVms: text('unknown_vms').array().notNull().default(sql`'{}'`),
    /** VMs whose hypervisor does not reply about them, by id. */
    unresponsiveVms: jsonb('unresponsive_vms').$type<UnresponsiveVm[]>().notNull().default([]),
    /** The inventory as the agent sent it; null before the first report. */
    inventory: jsonb('inventory'),
    /** Digest of the health rules that judged its devices last; empty before the first time. */
    judgedBy: text('judged_by').notNull().default(''),
    /** The facts of the inventory that must not change unnoticed; null before the first report. */
    facts: jsonb('facts'),
    /**
     * The accepted facts. The scheduler accepts the first ones; later the api does, for operators.
     */
    acceptedFacts: jsonb('accepted_facts'),
    /** Differences between facts and accepted facts, one sentence each. */
    drift: text('drift').array().notNull().default(sql`'{}'`),
    /** The capacity of each NUMA node for VMs, taken from the inventory. */
    numaNodes: jsonb('numa_nodes').$type<NumaNodeTotals[]>().notNull().default([]),
    /** Whether every host of the location can reach its disks. */
    sharedStorage: boolean('shared_storage').notNull().default(false),
    /** Whether VMs are placed on it only while its links have the bandwidth of their types. */
    enforcesBandwidth: boolean('enforces_bandwidth').notNull().default(false),
    /** Whether its guests cannot run VMs themselves; false also if its agent does not report it. */
    lacksNesting: boolean('lacks_nesting').notNull().default(false),
    /** How large all its disks may be together; null: no limit, because it is not known or storage is shared. */
    storageGib: integer('storage_gib'),
    /** Address to which other hosts send packets of tenants' networks; null if it has none. */
    underlayAddress: inet('underlay_address'),
    /** The address from which it reaches storage clusters, as its agent reports it; null: it uses none. */
    storageAddress: inet('storage_address'),
    /** Why its fence waits for a storage cluster; empty if it does not. */
    storageFenceProblem: text('storage_fence_problem').notNull().default(''),
    createdAt: createdAt(),
    // api:
    adminState: text('admin_state').notNull().default('active'),
    /** When an operator declared the host dead. */
    fencedAt: moment('fenced_at'),
    /** Labels of operators, such as the rack. */
    labels: jsonb('labels').$type<Record<string, string>>().notNull().default({}),
  },
  (t) => [
    unique('hosts_name_key').on(t.name),
    index('hosts_location').on(t.location),
    index('hosts_awaiting_era').on(t.id).where(sql`awaits_era`),
    index('hosts_detached').on(t.id).where(sql`scheduler_id is null`),
    index('hosts_fenced').on(t.id).where(sql`fenced_at is not null and state <> 'fenced'`),
    oneOf('hosts_state', t.state, HOST_STATES),
    oneOf('hosts_admin_state', t.adminState, HOST_ADMIN_STATES),
  ],
);

/**
 * Everything of a host that can be given to a VM: GPUs, drives and whatever kinds are added. A
 * device is removed with its host; a claim on it keeps both. Columns that a kind does not use keep
 * their default.
 */
export const devices = pgTable(
  'devices',
  {
    id: id(),
    hostId: uuid('host_id')
      .notNull()
      .references(() => hosts.id, { onDelete: 'cascade' }),
    kind: text('kind').notNull(),
    pciAddress: text('pci_address').notNull(),
    numaNode: integer('numa_node').notNull(),
    /** As VM types name it, such as "A40 48GB PCIe". Empty: VM types do not ask for a model. */
    model: text('model').notNull().default(''),
    /** Empty: the device has none, or it is not known. */
    serial: text('serial').notNull().default(''),
    /** Zero: the kind has no size, or it is not known. */
    sizeGb: integer('size_gb').notNull().default(0),
    /** A name that devices behind the same PCIe switch share. */
    pcieSwitch: text('pcie_switch').notNull().default(''),
    /** Null: the device is in no group, so it cannot be passed through. */
    iommuGroup: integer('iommu_group'),
    /** PCI address of the GPU at the other end of an NVLink bridge; empty: there is none. */
    nvlinkPeer: text('nvlink_peer').notNull().default(''),
    /** What its host does with it, a few words each. Empty: nothing. */
    uses: text('uses').array().notNull().default(sql`'{}'`),
    state: text('state').notNull().default('ready'),
    /** Why it is in its state; empty: the state needs no explanation. */
    stateReason: text('state_reason').notNull().default(''),
    /**
     * What health rules found wrong. The api clears problems that last until an operator releases
     * the device.
     */
    problems: jsonb('problems').$type<DeviceProblem[]>().notNull().default([]),
    /** Whether one of its problems keeps it from new VMs. */
    blocked: boolean('blocked')
      .notNull()
      .generatedAlwaysAs(sql`problems @> '[{"severity": "block"}]'`),
    // api:
    /** The operator's reason to keep it from new VMs, in any state; empty: there is none. */
    quarantineReason: text('quarantine_reason').notNull().default(''),
  },
  (t) => [
    unique('devices_address_key').on(t.hostId, t.pciAddress),
    index('devices_serial').on(t.serial).where(sql`serial <> ''`),
    oneOf('devices_kind', t.kind, DEVICE_KINDS),
    oneOf('devices_state', t.state, DEVICE_STATES),
  ],
);

/**
 * What was read from a device when it changed: link, errors, wear. One row for each hour with a change, with the
 * values at its end, so that a device whose errors increase all the time does not fill the table. Writer: scheduler.
 */
export const deviceReadings = pgTable(
  'device_readings',
  {
    deviceId: uuid('device_id')
      .notNull()
      .references(() => devices.id, { onDelete: 'cascade' }),
    hour: moment('hour').notNull(),
    /** When the last change in the hour was seen. */
    at: moment('at').notNull(),
    /** By name. A value that the device does not have is missing. */
    measured: jsonb('measured').$type<Record<string, number>>().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.deviceId, t.hour] }),
    // For the removal of old ones.
    index('device_readings_hour').on(t.hour),
  ],
);

/** Pools of public addresses (api). The scheduler assigns an address to an interface. */
export const publicAddresses = pgTable(
  'public_addresses',
  {
    id: id(),
    location: text('location')
      .notNull()
      .references(() => locations.name),
    address: inet('address').notNull(),
    // scheduler:
    networkInterfaceId: uuid('network_interface_id').references(() => networkInterfaces.id),
    /** When the last VM released it, and the project of that VM. Null if no VM has had it. */
    releasedAt: moment('released_at'),
    lastProjectId: uuid('last_project_id'),
    // trigger:
    /** Whether a project has reserved it: then it is not part of the pool. */
    reserved: boolean('reserved').notNull().default(false),
  },
  (t) => [
    index('public_addresses_free')
      .on(t.location, t.releasedAt.asc().nullsFirst())
      .where(sql`network_interface_id is null`),
    unique('public_addresses_address_key').on(t.address),
    unique('public_addresses_interface_key').on(t.networkInterfaceId),
    check('public_addresses_single', sql`masklen(${t.address}) = 32`),
  ],
);

/**
 * A new host joins with a token from an operator. A token works once. Writer: api, except the
 * columns under "scheduler". Only the hash of a token is stored.
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
    /** The operator who created it. There is no foreign key, because the row outlives the user. */
    createdBy: uuid('created_by').notNull(),
    createdAt: createdAt(),
    expiresAt: moment('expires_at').notNull(),
    /** The host that the token lets come back; null if it is for a new host. */
    rejoinsId: uuid('rejoins_id').references(() => hosts.id, { onDelete: 'cascade' }),
    /** What `gantry-agent doctor` found on the server that holds the token, when it last ran there. */
    findings: jsonb('findings').$type<DoctorFinding[]>().notNull().default([]),
    examinedAt: moment('examined_at'),
    // scheduler:
    usedAt: moment('used_at'),
    /** The host that used it; null again once the host is removed. */
    hostId: uuid('host_id').references(() => hosts.id, { onDelete: 'set null' }),
  },
  (t) => [
    unique('join_tokens_hash_key').on(t.hash),
    index('join_tokens_host').on(t.hostId),
    index('join_tokens_expiry').on(t.expiresAt),
    check('join_tokens_use', sql`${t.hostId} is null or ${t.usedAt} is not null`),
  ],
);
