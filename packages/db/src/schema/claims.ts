import { DIFFERENCE_KINDS, DIFFERENCE_OUTCOMES, ORPHAN_DECISIONS } from '@gantry/model/host-states';
import { sql } from 'drizzle-orm';
import {
  bigint,
  check,
  foreignKey,
  index,
  inet,
  jsonb,
  pgTable,
  primaryKey,
  text,
  unique,
  uuid,
} from 'drizzle-orm/pg-core';
import { createdAt, id, moment, oneOf } from './columns.ts';
import { devices, hosts } from './hosts.ts';
import { networkInterfaces, vms } from './vms.ts';

/**
 * What VMs and orphans have of hosts. Writer: scheduler, except the columns under "api". The primary
 * key of a claim is the claimed thing, so that no two VMs can have one device.
 */

/** The cores and memory of one NUMA node that a VM has. */
export type NumaShare = { node: number; cores: number; memoryMib: number };

/** The host of a VM. `epoch` is the epoch of the lease under which it was placed. */
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
    /** Null if they are not known: then they are derived from the GPUs. */
    numaShares: jsonb('numa_shares').$type<NumaShare[]>(),
    createdAt: createdAt(),
  },
  (t) => [index('placements_host').on(t.hostId)],
);

export const deviceClaims = pgTable(
  'device_claims',
  {
    deviceId: uuid('device_id')
      .primaryKey()
      .references(() => devices.id),
    /** The VM that has the device. Null if an orphan has it. */
    vmId: uuid('vm_id').references(() => placements.vmId),
    orphanId: uuid('orphan_id').references(() => orphans.id, { onDelete: 'cascade' }),
  },
  (t) => [
    index('device_claims_vm').on(t.vmId),
    index('device_claims_orphan').on(t.orphanId),
    check('device_claims_one_owner', sql`num_nonnulls(${t.vmId}, ${t.orphanId}) = 1`),
  ],
);

/**
 * A VM on a host that this database does not place there: it was created, started or moved in commits
 * that were lost. Nothing of it is destroyed until an operator decides. Meanwhile its devices are
 * claimed and its addresses are given to no other VM.
 */
export const orphans = pgTable(
  'orphans',
  {
    id: id(),
    hostId: uuid('host_id')
      .notNull()
      .references(() => hosts.id, { onDelete: 'cascade' }),
    vmId: uuid('vm_id').notNull(),
    /** Its project, type and name as its host knows them; null or empty if the host does not. */
    projectId: uuid('project_id'),
    type: text('type').notNull().default(''),
    name: text('name').notNull().default(''),
    /** The counters of the VM on its host. */
    revision: bigint('revision', { mode: 'number' }).notNull(),
    generation: bigint('generation', { mode: 'number' }).notNull(),
    /** The last entry that the VM had in a spec, as the host reports it. */
    description: jsonb('description').notNull(),
    foundAt: moment('found_at').notNull().defaultNow(),
    /** Why the operator's decision could not be carried out; empty if it could, or if there is none. */
    problem: text('problem').notNull().default(''),
    // api:
    /** What an operator has decided; null before. */
    decision: text('decision'),
  },
  (t) => [
    unique('orphans_vm_key').on(t.hostId, t.vmId),
    index('orphans_vm').on(t.vmId),
    oneOf('orphans_decision', t.decision, ORPHAN_DECISIONS),
  ],
);

/** The addresses of orphans. */
export const orphanInterfaces = pgTable(
  'orphan_interfaces',
  {
    id: uuid('id').notNull(),
    orphanId: uuid('orphan_id')
      .notNull()
      .references(() => orphans.id, { onDelete: 'cascade' }),
    networkId: uuid('network_id').notNull(),
    macAddress: text('mac_address').notNull(),
    privateAddress: inet('private_address').notNull(),
    publicAddress: inet('public_address'),
  },
  (t) => [
    primaryKey({ columns: [t.orphanId, t.id] }),
    index('orphan_interfaces_network').on(t.networkId),
    index('orphan_interfaces_public').on(t.publicAddress),
  ],
);

/**
 * How a host differed from the database when an era began, besides its orphans. The restore command
 * lists it.
 */
export const eraDifferences = pgTable(
  'era_differences',
  {
    id: id(),
    era: bigint('era', { mode: 'number' }).notNull(),
    hostId: uuid('host_id')
      .notNull()
      .references(() => hosts.id, { onDelete: 'cascade' }),
    kind: text('kind').notNull(),
    /** Each id is null if the difference is not about such a thing. */
    vmId: uuid('vm_id'),
    diskId: uuid('disk_id'),
    networkId: uuid('network_id'),
    /** `none` except for the kind `absent`. */
    outcome: text('outcome').notNull().default('none'),
  },
  (t) => [
    index('era_differences_host').on(t.hostId),
    oneOf('era_differences_kind', t.kind, DIFFERENCE_KINDS),
    oneOf('era_differences_outcome', t.outcome, DIFFERENCE_OUTCOMES),
  ],
);

/** The private address of a VM's interface. A stopped VM keeps it. */
export const addressClaims = pgTable(
  'address_claims',
  {
    networkInterfaceId: uuid('network_interface_id').primaryKey(),
    subnetId: uuid('subnet_id').notNull(),
    address: inet('address').notNull(),
  },
  (t) => [
    unique('address_claims_address_key').on(t.subnetId, t.address),
    // The subnet is the interface's own, so one foreign key replaces two.
    foreignKey({
      name: 'address_claims_interface_fk',
      columns: [t.networkInterfaceId, t.subnetId],
      foreignColumns: [networkInterfaces.id, networkInterfaces.subnetId],
    }),
  ],
);
