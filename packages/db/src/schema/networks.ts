import { ACTIONS, DIRECTIONS } from '@gantry/model/states';
import { type SQL, sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  check,
  cidr,
  index,
  integer,
  jsonb,
  pgTable,
  text,
  unique,
  uuid,
} from 'drizzle-orm/pg-core';
import { locations } from './catalogue.ts';
import { createdAt, id, moment, oneOf } from './columns.ts';
import { projects } from './tenants.ts';

/** Writer: api, except the columns under "scheduler". */

export const networks = pgTable(
  'networks',
  {
    id: id(),
    projectId: uuid('project_id')
      .notNull()
      .references(() => projects.id, { onDelete: 'cascade' }),
    name: text('name').notNull(),
    cidr: cidr('cidr').notNull(),
    /** VXLAN network identifier (24 bits) for packets between hosts. A trigger assigns it. */
    vni: integer('vni').notNull(),
    /** Created with the project; new VMs are in it. */
    isDefault: boolean('is_default').notNull().default(false),
    tags: jsonb('tags').$type<Record<string, string>>().notNull().default({}),
    createdAt: createdAt(),
  },
  (t) => [
    unique('networks_name_key').on(t.projectId, t.name),
    unique('networks_vni_key').on(t.vni),
  ],
);

/**
 * The VXLAN numbers that a network can get, except those that `vni_pool` has not added yet. Writer:
 * triggers on networks. `take_vni` says when a freed number may be used again.
 */
export const freeVnis = pgTable(
  'free_vnis',
  {
    vni: integer('vni').primaryKey(),
    /** Null if no network ever had it. */
    freedAt: moment('freed_at'),
    /** The hosts that had not accepted their newest spec when it was freed, and its number. */
    hostIds: uuid('host_ids').array().notNull().default(sql`'{}'`),
    numbers: bigint('numbers', { mode: 'number' }).array().notNull().default(sql`'{}'`),
  },
  (t) => [
    index('free_vnis_unused').on(t.vni).where(sql`freed_at is null`),
    index('free_vnis_freed').on(t.freedAt, t.vni).where(sql`freed_at is not null`),
  ],
);

/**
 * Positions in the circle of all VXLAN numbers: those from `next` to `last` are not in `free_vnis` yet.
 * Writer: a trigger on networks. One row.
 */
export const vniPool = pgTable(
  'vni_pool',
  {
    id: integer('id').primaryKey().default(1),
    next: bigint('next', { mode: 'number' }).notNull(),
    last: bigint('last', { mode: 'number' }).notNull(),
  },
  (t) => [check('vni_pool_one', sql`${t.id} = 1`)],
);

export const subnets = pgTable(
  'subnets',
  {
    id: id(),
    projectId: uuid('project_id')
      .notNull()
      .references(() => projects.id, { onDelete: 'cascade' }),
    networkId: uuid('network_id')
      .notNull()
      .references(() => networks.id, { onDelete: 'cascade' }),
    location: text('location')
      .notNull()
      .references(() => locations.name),
    name: text('name').notNull(),
    cidr: cidr('cidr').notNull(),
    tags: jsonb('tags').$type<Record<string, string>>().notNull().default({}),
    createdAt: createdAt(),
  },
  // Subnets of one network do not overlap: a transaction that adds one locks the network's row.
  (t) => [
    unique('subnets_name_key').on(t.projectId, t.name),
    index('subnets_network').on(t.networkId),
  ],
);

/** `resource_id` or `cidr`; the unused member is the empty string, both empty means anywhere. */
export type RuleEndpoint = { resource_id: string; cidr: string };

export const firewallRules = pgTable(
  'firewall_rules',
  {
    id: id(),
    projectId: uuid('project_id')
      .notNull()
      .references(() => projects.id, { onDelete: 'cascade' }),
    networkId: uuid('network_id')
      .notNull()
      .references(() => networks.id),
    name: text('name').notNull(),
    direction: text('direction').notNull(),
    action: text('action').notNull(),
    protocols: text('protocols').array().notNull(),
    sources: jsonb('sources').$type<RuleEndpoint[]>().notNull(),
    sourcePorts: text('source_ports').array().notNull(),
    destinations: jsonb('destinations').$type<RuleEndpoint[]>().notNull(),
    destinationPorts: text('destination_ports').array().notNull(),
    desiredState: text('desired_state').notNull().default('present'),
    generation: bigint('generation', { mode: 'number' }).notNull().default(1),
    tags: jsonb('tags').$type<Record<string, string>>().notNull().default({}),
    createdAt: createdAt(),
    // trigger:
    /** Whether an endpoint is a VM, a subnet or a network: the rule changes its meaning when that does. */
    namesResources: boolean('names_resources').notNull().default(true),
    // scheduler:
    /** The generation that every host of the network has applied. */
    appliedGeneration: bigint('applied_generation', { mode: 'number' }).notNull().default(0),
    state: text('state')
      .notNull()
      .generatedAlwaysAs(
        (): SQL => sql`case
          when desired_state = 'deleted' then 'deleting'
          when applied_generation < generation then 'pending'
          else 'active' end`,
      ),
  },
  (t) => [
    unique('firewall_rules_name_key').on(t.projectId, t.name),
    index('firewall_rules_network').on(t.networkId),
    index('firewall_rules_unsettled')
      .on(t.id)
      .where(sql`desired_state = 'deleted' or applied_generation < generation`),
    oneOf('firewall_rules_direction', t.direction, DIRECTIONS),
    oneOf('firewall_rules_action', t.action, ACTIONS),
    oneOf('firewall_rules_desired_state', t.desiredState, ['present', 'deleted']),
  ],
);
