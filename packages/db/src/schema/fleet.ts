import { DEVICE_KINDS } from '@gantry/model/host-states';
import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  check,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  unique,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import { locations, vmTypes } from './catalogue.ts';
import { createdAt, id, moment, oneOf, transactionId } from './columns.ts';
import { hosts } from './hosts.ts';
import { firewallRules } from './networks.ts';
import { vms } from './vms.ts';

/** How schedulers share the work, and what they know about hosts. Writer: scheduler. */

/**
 * The era of the installation. It grows when the database may have lost commits: after a failover,
 * which begins a new history, and after a restored backup. The functions count_floor and
 * current_history explain how counters stay unique. One row.
 */
export const installation = pgTable(
  'installation',
  {
    id: integer('id').primaryKey().default(1),
    /** Seconds since 1970 at which the era began; zero for the first. */
    era: bigint('era', { mode: 'number' }).notNull().default(0),
    /** The history of the database to which the era belongs. */
    history: text('history').notNull(),
    /**
     * Intervals that ended before this moment were removed, or will be. Closed days before it are not
     * adjusted any more, because a day without its intervals would seem not to have been used.
     */
    meteredSince: moment('metered_since').notNull().default(sql`'-infinity'`),
    /** Stream events of earlier transactions were removed, so a stream cannot continue there. */
    streamSince: transactionId('stream_since').notNull().default(sql`'0'`),
  },
  (t) => [check('installation_one', sql`${t.id} = 1`)],
);

/** Running schedulers. If a row is not renewed, the scheduler and its streams count as lost. */
export const schedulers = pgTable('schedulers', {
  id: id(),
  startedAt: moment('started_at').notNull().defaultNow(),
  lastSeenAt: moment('last_seen_at').notNull().defaultNow(),
  /** Address of its fleet server for api processes, as host:port; empty before it listens. */
  address: text('address').notNull().default(''),
});

/**
 * The scheduler that places VMs in a location. The epoch is a fencing token: it increases with
 * every new holder, and every placement checks it in its transaction, so that a holder that was
 * paused for too long writes nothing.
 */
export const leases = pgTable(
  'leases',
  {
    location: text('location')
      .primaryKey()
      .references(() => locations.name, { onDelete: 'cascade' }),
    holder: uuid('holder').notNull(),
    epoch: bigint('epoch', { mode: 'number' }).notNull(),
    expiresAt: moment('expires_at').notNull(),
    /** A scheduler with fewer leases, which the holder hands this one over to. */
    wantedBy: uuid('wanted_by'),
  },
  // The epoch is part of a key, so a new holder waits for the transactions that lock the key, and a
  // renewal does not.
  (t) => [unique('leases_epoch_key').on(t.location, t.epoch)],
);

/**
 * The certificate authorities of the fleet. The first scheduler creates the first one, and the
 * operator's command rotate-authority the others. At most two are trusted at a time: during a
 * rotation, the retiring one and the issuing one that replaces it.
 */
export const fleetAuthorities = pgTable(
  'fleet_authorities',
  {
    id: integer('id').primaryKey().default(1),
    certificatePem: text('certificate_pem').notNull(),
    /** SHA-256 of the certificate in DER, lower-case hex. A new host compares it. */
    fingerprint: text('fingerprint').notNull(),
    /** Sealed with the fleet key, which only schedulers have; empty if the operator provided the authority. */
    sealedPrivateKey: text('sealed_private_key').notNull(),
    /**
     * issuing: it signs the certificates of hosts. retiring: it is still trusted, and signs those of
     * schedulers, because a host that was away trusts no other. withdrawn: it is not trusted any more.
     */
    state: text('state').notNull().default('issuing'),
    createdAt: createdAt(),
    withdrawnAt: moment('withdrawn_at'),
  },
  (t) => [
    oneOf('fleet_authorities_state', t.state, ['issuing', 'retiring', 'withdrawn']),
    uniqueIndex('fleet_authorities_trusted').on(t.state).where(sql`state <> 'withdrawn'`),
  ],
);

/** A host has several valid certificates while it renews. */
export const hostCertificates = pgTable(
  'host_certificates',
  {
    /** Serial number of the X.509 certificate, lower-case hex. */
    serial: text('serial').primaryKey(),
    hostId: uuid('host_id')
      .notNull()
      .references(() => hosts.id, { onDelete: 'cascade' }),
    notAfter: moment('not_after').notNull(),
    /** The fingerprint of its authority. Empty: it was issued before authorities could be replaced. */
    authority: text('authority').notNull().default(''),
    createdAt: createdAt(),
    // api, for operators:
    revokedAt: moment('revoked_at'),
  },
  (t) => [
    index('host_certificates_host').on(t.hostId),
    index('host_certificates_expiry').on(t.notAfter),
    index('host_certificates_revoked').on(t.serial).where(sql`revoked_at is not null`),
  ],
);

/**
 * Hosts that dial with a certificate of the fleet and are not in the database: their enrolment was lost
 * with other commits, or the host was removed. The restore command lists them.
 */
export const strayHosts = pgTable('stray_hosts', {
  hostId: uuid('host_id').primaryKey(),
  /** Where the host was seen last, so that an operator finds the machine. */
  address: text('address').notNull(),
  lastSeenAt: moment('last_seen_at').notNull(),
});

/**
 * The number of each host's spec. Writer: triggers on everything that a spec contains, so that no
 * code path can change a spec without a new number. `changedXid` is the last transaction that
 * changed the spec or anything that placement reads. Polls compare it, so that they also find
 * transactions that commit late. A subnet changes the specs of all hosts of its network: `ownNumber`
 * is the number after the last change of another kind, and `peersXid` is the last transaction that
 * changed only what the host knows about its networks, which placement does not read.
 */
export const hostRevisions = pgTable(
  'host_revisions',
  {
    hostId: uuid('host_id')
      .primaryKey()
      .references(() => hosts.id, { onDelete: 'cascade' }),
    number: bigint('number', { mode: 'number' }).notNull().default(1),
    changedXid: transactionId('changed_xid').notNull().default(sql`pg_current_xact_id()`),
    ownNumber: bigint('own_number', { mode: 'number' }).notNull().default(1),
    peersXid: transactionId('peers_xid').notNull().default(sql`'0'`),
  },
  (t) => [
    index('host_revisions_changed').on(t.changedXid),
    index('host_revisions_peers').on(t.peersXid),
  ],
);

/**
 * The networks whose VMs, or the addresses of those, changed in a transaction. Schedulers poll them to
 * tell the hosts of the network, as with `changedXid`. Rows are inserted and never updated, so that
 * placements in one network do not wait for each other. Writer: triggers.
 */
export const networkChanges = pgTable(
  'network_changes',
  {
    networkId: uuid('network_id').notNull(),
    xid: transactionId('xid').notNull().default(sql`pg_current_xact_id()`),
    createdAt: createdAt(),
  },
  (t) => [
    primaryKey({ columns: [t.networkId, t.xid] }),
    index('network_changes_xid').on(t.xid),
    index('network_changes_created').on(t.createdAt),
  ],
);

/**
 * Hosts that have not confirmed a firewall rule yet, and the number of the spec that has the rule.
 * Writer: triggers insert rows when the rule changes; the scheduler removes them after the report.
 */
export const firewallRuleHosts = pgTable(
  'firewall_rule_hosts',
  {
    ruleId: uuid('rule_id')
      .notNull()
      .references(() => firewallRules.id, { onDelete: 'cascade' }),
    hostId: uuid('host_id')
      .notNull()
      .references(() => hosts.id, { onDelete: 'cascade' }),
    number: bigint('number', { mode: 'number' }).notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.ruleId, t.hostId] }),
    index('firewall_rule_hosts_host').on(t.hostId),
  ],
);

/**
 * Proof that a device was cleaned after a VM, or a record that cleaning failed. Rows are only
 * added, and removed when they are old and not the last of their device. There are no foreign keys, because a receipt outlives the VM, the device and the host.
 *
 * `number` orders the receipts of one drive. The database assigns it: `id` and `finishedAt` come
 * from the clocks of different processes, so they do not define an order. A sequence is not in
 * commit order in general, but it is for the receipts of one drive. A receipt is inserted by the
 * transaction that ends the claim on the drive, and the next receipt needs another claim, which a
 * transaction can take only after that one has committed. A drive that appears in a second slot or
 * host while it is still claimed in the first cannot be claimed there, because `upsertDevices`
 * quarantines it.
 */
export const deviceReceipts = pgTable(
  'device_receipts',
  {
    id: id(),
    number: bigint('number', { mode: 'number' }).notNull().generatedAlwaysAsIdentity(),
    deviceId: uuid('device_id').notNull(),
    kind: text('kind').notNull(),
    hostId: uuid('host_id').notNull(),
    pciAddress: text('pci_address').notNull(),
    serial: text('serial').notNull(),
    vmId: uuid('vm_id').notNull(),
    projectId: uuid('project_id').notNull(),
    method: text('method').notNull(),
    finishedAt: moment('finished_at').notNull(),
    /** Both are empty if every step of the cleaning succeeded. */
    failureCode: text('failure_code').notNull().default(''),
    failureMessage: text('failure_message').notNull().default(''),
    /** What the cleaning proves: name, state and detail each. Empty: not known. */
    properties: jsonb('properties').notNull().default([]),
  },
  (t) => [
    index('device_receipts_device').on(t.deviceId, t.id),
    index('device_receipts_project').on(t.projectId, t.id),
    index('device_receipts_serial').on(t.serial, t.number).where(sql`serial <> ''`),
    oneOf('device_receipts_kind', t.kind, DEVICE_KINDS),
  ],
);

/** Whether placement would find a host now, and how often, for every offered type. Written when it changes. */
export const availabilities = pgTable(
  'availabilities',
  {
    location: text('location')
      .notNull()
      .references(() => locations.name, { onDelete: 'cascade' }),
    vmType: text('vm_type')
      .notNull()
      .references(() => vmTypes.name, { onDelete: 'cascade' }),
    available: boolean('available').notNull(),
    /** An upper bound of the VMs that fit. */
    fitting: integer('fitting').notNull().default(0),
    /** The filter of placement that left no host; empty if a VM fits. */
    lacking: text('lacking').notNull().default(''),
  },
  (t) => [primaryKey({ columns: [t.location, t.vmType] })],
);

/** The last part of the output of a VM's serial console. */
export const serialLogs = pgTable('serial_logs', {
  vmId: uuid('vm_id')
    .primaryKey()
    .references(() => vms.id, { onDelete: 'cascade' }),
  tail: text('tail').notNull(),
  updatedAt: moment('updated_at').notNull().defaultNow(),
});
