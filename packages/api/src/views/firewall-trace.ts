import type { FirewallTrace } from '../operations/trace-firewall.ts';

export function firewallTraceView({ allowed, reason, settled, steps }: FirewallTrace) {
  return {
    ...{ allowed, reason, settled },
    steps: steps.map((step) => ({
      direction: step.direction,
      vpc_network_id: step.networkId,
      source: step.source,
      destination: step.destination,
      allowed: step.allowed,
      rule_id: step.rule?.id ?? '',
      rule_name: step.rule?.name ?? '',
      rule_state: step.rule?.state ?? ('' as const),
    })),
  };
}
