import { DEVICE_KINDS } from '@gantry/model/host-states';
import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  check,
  customType,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  uuid,
} from 'drizzle-orm/pg-core';
import { locations, vmTypes } from './catalogue.ts';
import { createdAt, id, moment, oneOf } from './columns.ts';
import { hosts } from './hosts.ts';
import { firewallRules } from './networks.ts';
import { vms } from './vms.ts';

/** How schedulers share the work, and what hosts and they know of each other. Writer: scheduler. */

const transactionId = customType<{ data: string }>({ dataType: () => 'xid8' });

/** Those that live: a row that is not renewed is as good as gone, and so are the streams it held. */
export const schedulers = pgTable('schedulers', {
  id: id(),
  startedAt: moment('started_at').notNull().defaultNow(),
  lastSeenAt: moment('last_seen_at').notNull().defaultNow(),
  /** Where api processes reach its fleet server, as host:port; empty while it does not listen yet. */
  address: text('address').notNull().default(''),
});

/**
 * Who places in a location. The epoch grows with every new holder and every placement checks it as
 * it is written, so that a holder that was paused and woke up too late writes nothing.
 */
export const leases = pgTable('leases', {
  location: text('location')
    .primaryKey()
    .references(() => locations.name, { onDelete: 'cascade' }),
  holder: uuid('holder').notNull(),
  epoch: bigint('epoch', { mode: 'number' }).notNull(),
  expiresAt: moment('expires_at').notNull(),
});

/** The fleet's own certificate authority: one, made by the first scheduler that starts without one. */
export const fleetAuthorities = pgTable(
  'fleet_authorities',
  {
    id: integer('id').primaryKey().default(1),
    certificatePem: text('certificate_pem').notNull(),
    /** SHA-256 of the certificate in DER, lower-case hex: what a new host is told to expect. */
    fingerprint: text('fingerprint').notNull(),
    /** Sealed with the installation's secret key; empty where the operator gave the authority. */
    sealedPrivateKey: text('sealed_private_key').notNull(),
    createdAt: createdAt(),
  },
  (t) => [check('fleet_authorities_one', sql`${t.id} = 1`)],
);

/** A host may have several that overlap while it renews. */
export const hostCertificates = pgTable(
  'host_certificates',
  {
    /** As X.509 has it, lower-case hex. */
    serial: text('serial').primaryKey(),
    hostId: uuid('host_id')
      .notNull()
      .references(() => hosts.id, { onDelete: 'cascade' }),
    notAfter: moment('not_after').notNull(),
    createdAt: createdAt(),
    // api, on operators' word:
    revokedAt: moment('revoked_at'),
  },
  (t) => [
    index('host_certificates_host').on(t.hostId),
    index('host_certificates_revoked').on(t.serial).where(sql`revoked_at is not null`),
  ],
);

/**
 * The number of each host's wanted state. Writer: the database itself, by triggers on everything
 * that a host is told, so that no path can change it and forget. `changedXid` is the transaction
 * that last changed it or anything placement looks at: what a poll has not seen yet is found by it,
 * however late a transaction commits. Many hosts may have to hear of a VM that is elsewhere:
 * `ownNumber` is the number as of the last change that was more than that, and `peersXid` the
 * transaction of the last that was not, which is nothing to placement.
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
 * Hosts that have yet to put a firewall rule in force, and the number of the spec it is in.
 * Inserted by triggers with the rule's change, removed by the scheduler on the host's word.
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
 * Proof that a device was cleaned after a VM, or a record that cleaning failed. Rows are only added.
 * There are no foreign keys, because a receipt outlives the VM, the device and the host.
 *
 * `number` orders the receipts of one drive. The database assigns it: `id` and `finishedAt` come from
 * the clocks of different processes, so they say nothing about order. A sequence is not in commit
 * order in general, but it is for the receipts of one drive. A receipt is inserted by the transaction
 * that ends the claim on the drive, and the next receipt needs another claim, which a transaction can
 * take only after that one has committed. A drive that appears in a second slot or host while it is
 * still claimed in the first cannot be claimed there, because `upsertDrives` quarantines it.
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
    /** Both empty: clean and verified. */
    failureCode: text('failure_code').notNull().default(''),
    failureMessage: text('failure_message').notNull().default(''),
  },
  (t) => [
    index('device_receipts_device').on(t.deviceId, t.id),
    index('device_receipts_project').on(t.projectId, t.id),
    index('device_receipts_serial').on(t.serial, t.number).where(sql`serial <> ''`),
    oneOf('device_receipts_kind', t.kind, DEVICE_KINDS),
  ],
);

/** What placement would say now, for every offered type; written where it changes. */
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
  },
  (t) => [primaryKey({ columns: [t.location, t.vmType] })],
);

/** The end of what a VM's console printed. */
export const serialLogs = pgTable('serial_logs', {
  vmId: uuid('vm_id')
    .primaryKey()
    .references(() => vms.id, { onDelete: 'cascade' }),
  tail: text('tail').notNull(),
  updatedAt: moment('updated_at').notNull().defaultNow(),
});
