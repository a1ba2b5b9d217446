import type { FirewallRuleRow } from './firewall-rules.ts';

export function firewallRuleView(row: FirewallRuleRow) {
  return {
    id: row.id,
    name: row.name,
    direction: row.direction,
    action: row.action,
    vpc_network_id: row.vpc_network_id,
    state: row.state,
    sources: row.sources,
    source_ports: row.source_ports,
    destinations: row.destinations,
    destination_ports: row.destination_ports,
    protocols: row.protocols,
    tags: row.tags,
  };
}
