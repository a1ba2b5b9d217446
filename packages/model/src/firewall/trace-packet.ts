import { matchesRule, type Ports, type Protocol, type ResolvedRule } from './match-rule.ts';
import { type End, planPath, type Step } from './plan-path.ts';

export const TRACE_REASONS = [
  'allowed',
  'denied_by_rule',
  'no_rule_allows',
  'no_route',
  'answered_by_gateway',
] as const;
export type TraceReason = (typeof TRACE_REASONS)[number];

export type TracedStep<Rule> = Step & {
  allowed: boolean;
  /** The rule that decided. Null: no rule allows the packet. */
  rule: Rule | null;
};

export type Trace<Rule> = {
  allowed: boolean;
  /** The reason of the first step that does not allow the packet. */
  reason: TraceReason;
  /** Each step is evaluated even if an earlier one denies, so that all obstacles are visible. */
  steps: TracedStep<Rule>[];
};

export type Question = Ports & { from: End; to: End; protocol: Protocol };

/** Traces the first packet of a connection. Returns undefined if it depends on a host's address. */
export function tracePacket<Rule extends ResolvedRule>(
  { from, to, ...packet }: Question,
  rules: readonly Rule[],
): Trace<Rule> | undefined {
  const path = planPath(from, to, packet.protocol);
  if (path === 'hidden_source') return undefined;
  if (path === 'no_route') return { allowed: false, reason: path, steps: [] };
  if (path === 'answered_by_gateway') return { allowed: true, reason: path, steps: [] };
  const ordered = rules.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const steps = path.steps.map((step): TracedStep<Rule> => {
    const rule = findDeciding(ordered, step, packet);
    return { ...step, allowed: rule?.action === 'allow', rule };
  });
  const stopped = steps.find(({ allowed }) => !allowed);
  if (!stopped) return { allowed: true, reason: 'allowed', steps };
  const reason = stopped.rule ? 'denied_by_rule' : 'no_rule_allows';
  return { allowed: false, reason, steps };
}

/** A rule that denies wins. Among several, hosts apply the one with the smallest id first. */
function findDeciding<Rule extends ResolvedRule>(
  rules: readonly Rule[],
  { networkId, direction, source, destination }: Step,
  packet: Ports & { protocol: Protocol },
): Rule | null {
  const matching = rules.filter(
    (rule) =>
      rule.networkId === networkId &&
      rule.direction === direction &&
      matchesRule(rule, { ...packet, source, destination }),
  );
  return matching.find(({ action }) => action === 'deny') ?? matching[0] ?? null;
}
