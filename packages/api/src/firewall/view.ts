import type { TracedRuleRow } from '@gantry/db/queries/networks/firewall-traces';
import type { ResolvedRule } from '@gantry/model/firewall/match-rule';
import type { Trace } from '@gantry/model/firewall/trace-packet';

export type TracedRule = ResolvedRule & Pick<TracedRuleRow, 'name' | 'state'>;
export type FirewallTrace = Trace<TracedRule> & { settled: boolean };

export function firewallTraceView({ allowed, reason, settled, steps }: FirewallTrace) {
  return {
    allowed,
    reason,
    settled,
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
