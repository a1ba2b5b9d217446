import type { ACTIONS, DIRECTIONS, FIREWALL_RULE_STATES, PROTOCOLS } from '@gantry/model/states';
import type { Queryable } from '../../connect.ts';
import type { RuleEndpoint } from '../../schema/networks.ts';
import { type Listing, listed } from '../listing.ts';

export type FirewallRuleDefinition = {
  name: string;
  protocols: (typeof PROTOCOLS)[number][];
  sources: RuleEndpoint[];
  source_ports: string[];
  destinations: RuleEndpoint[];
  destination_ports: string[];
};

export type FirewallRuleRow = FirewallRuleDefinition & {
  id: string;
  vpc_network_id: string;
  direction: (typeof DIRECTIONS)[number];
  action: (typeof ACTIONS)[number];
  state: (typeof FIREWALL_RULE_STATES)[number];
  tags: Record<string, string>;
};

const selectRule = (sql: Queryable) => sql`
  select id, network_id as vpc_network_id, name, direction, action, state, protocols, sources, source_ports,
    destinations, destination_ports, tags
  from firewall_rules`;

type RuleKey = { projectId: string; ruleId: string };

export async function listFirewallRules(
  sql: Queryable,
  listing: Listing,
): Promise<FirewallRuleRow[]> {
  return await sql<FirewallRuleRow[]>`${selectRule(sql)} where ${listed(sql, listing)}`;
}

export async function readFirewallRule(
  sql: Queryable,
  { projectId, ruleId }: RuleKey,
): Promise<FirewallRuleRow | undefined> {
  const [row] = await sql<
    FirewallRuleRow[]
  >`${selectRule(sql)} where project_id = ${projectId} and id = ${ruleId}`;
  return row;
}

/** Reads the rule and locks it until the transaction ends. */
export async function lockFirewallRule(
  sql: Queryable,
  { projectId, ruleId }: RuleKey,
): Promise<FirewallRuleRow | undefined> {
  await sql`select from firewall_rules where project_id = ${projectId} and id = ${ruleId} for update`;
  return await readFirewallRule(sql, { projectId, ruleId });
}

/**
 * Returns which of these ids are VMs, subnets or networks of the project. Locks the subnets and
 * networks, so that they cannot be deleted while a rule that names them is written.
 */
export async function holdRuleResources(
  sql: Queryable,
  { projectId, ids }: { projectId: string; ids: string[] },
): Promise<Set<string>> {
  const rows = await sql<{ id: string }[]>`
    with network as (select id from networks
        where project_id = ${projectId} and id = any(${ids}::uuid[]) order by id for key share),
      subnet as (select id from subnets
        where project_id = ${projectId} and id = any(${ids}::uuid[]) order by id for key share)
    select id from network union all select id from subnet
    union all select id from vms where project_id = ${projectId} and id = any(${ids}::uuid[])`;
  return new Set(rows.map(({ id }) => id));
}

/** Returns false if the project has no such network. Locks the network otherwise. */
export async function holdNetwork(
  sql: Queryable,
  { projectId, networkId }: { projectId: string; networkId: string },
): Promise<boolean> {
  const { count } =
    await sql`select from networks where project_id = ${projectId} and id = ${networkId} for key share`;
  return count > 0;
}

export type NewFirewallRule = Omit<FirewallRuleRow, 'state' | 'tags'> & {
  projectId: string;
  at: Date;
};

export async function insertFirewallRule(sql: Queryable, rule: NewFirewallRule): Promise<void> {
  await sql`insert into firewall_rules
    (id, project_id, network_id, name, direction, action, protocols, sources, source_ports, destinations, destination_ports, created_at)
    values (${rule.id}, ${rule.projectId}, ${rule.vpc_network_id}, ${rule.name}, ${rule.direction}, ${rule.action},
      ${rule.protocols}, ${sql.json(rule.sources)}, ${rule.source_ports}, ${sql.json(rule.destinations)},
      ${rule.destination_ports}, ${rule.at})`;
}

/** Increments the generation. The change is in force when every host of the network has it. */
export async function updateFirewallRule(
  sql: Queryable,
  ruleId: string,
  rule: FirewallRuleDefinition,
): Promise<void> {
  await sql`update firewall_rules set name = ${rule.name}, protocols = ${rule.protocols},
    sources = ${sql.json(rule.sources)}, source_ports = ${rule.source_ports},
    destinations = ${sql.json(rule.destinations)}, destination_ports = ${rule.destination_ports},
    generation = generation + 1 where id = ${ruleId}`;
}

export async function updateFirewallRuleDeleted(sql: Queryable, ruleId: string): Promise<void> {
  await sql`update firewall_rules set desired_state = 'deleted' where id = ${ruleId}`;
}

/** Returns how many hosts have VMs of the rule's network. */
export async function countHostsOfRule(sql: Queryable, ruleId: string): Promise<number> {
  const [row] = await sql<{ hosts: number }[]>`
    select count(*)::int as hosts from firewall_rules r, hosts_in_networks(array[r.network_id]) where r.id = ${ruleId}`;
  return row?.hosts ?? 0;
}
