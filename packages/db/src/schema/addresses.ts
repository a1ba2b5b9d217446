import { jsonb, pgTable, text, unique, uuid } from 'drizzle-orm/pg-core';
import { createdAt, id } from './columns.ts';
import { publicAddresses } from './hosts.ts';
import { projects } from './tenants.ts';
import { networkInterfaces } from './vms.ts';

/**
 * The public addresses that projects have reserved. A row keeps its address out of the pool. Writer: api;
 * the scheduler removes an interface with its VM, which detaches the address. One row per address and one
 * column for the interface, so that an address has one project and at most one VM.
 */
export const reservedAddresses = pgTable(
  'reserved_addresses',
  {
    id: id(),
    projectId: uuid('project_id')
      .notNull()
      .references(() => projects.id),
    name: text('name').notNull(),
    publicAddressId: uuid('public_address_id')
      .notNull()
      .references(() => publicAddresses.id),
    /**
     * The interface that it is attached to, also while the VM is stopped. `public_addresses` has the interface
     * only while the VM has a host.
     */
    networkInterfaceId: uuid('network_interface_id').references(() => networkInterfaces.id, {
      onDelete: 'set null',
    }),
    tags: jsonb('tags').$type<Record<string, string>>().notNull().default({}),
    createdAt: createdAt(),
  },
  (t) => [
    unique('reserved_addresses_name_key').on(t.projectId, t.name),
    unique('reserved_addresses_address_key').on(t.publicAddressId),
    unique('reserved_addresses_interface_key').on(t.networkInterfaceId),
  ],
);
