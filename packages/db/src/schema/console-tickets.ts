import { bigint, index, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { moment, oneOf } from './columns.ts';
import { vms } from './vms.ts';

/**
 * A ticket opens a VM's console once, for clients that cannot send an Authorization header. Writer:
 * api; the scheduler removes expired tickets.
 */
export const consoleTickets = pgTable(
  'console_tickets',
  {
    /** SHA-256 of the ticket. */
    hash: text('hash').primaryKey(),
    vmId: uuid('vm_id')
      .notNull()
      .references(() => vms.id, { onDelete: 'cascade' }),
    /** The user or key whose rights it has; the rights are read when it is used. */
    actorType: text('actor_type').notNull(),
    actorId: uuid('actor_id').notNull(),
    /** The login of a user and the generation of the user's tokens. The ticket ends when they end. */
    loginId: text('login_id').notNull().default(''),
    tokenGeneration: bigint('token_generation', { mode: 'number' }),
    expiresAt: moment('expires_at').notNull(),
  },
  (t) => [
    index('console_tickets_age').on(t.expiresAt),
    index('console_tickets_vm').on(t.vmId),
    oneOf('console_tickets_actor_type', t.actorType, ['user', 'access_key']),
  ],
);
