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
  /** The one that decided. Null: none allows it. */
  rule: Rule | null;
};

export type Trace<Rule> = {
  allowed: boolean;
  /** Of the first step that does not let it pass. */
  reason: TraceReason;
  /** Each as if the ones before had let it pass, so that all that is in the way is seen at once. */
  steps: TracedStep<Rule>[];
};

export type Question = Ports & { from: End; to: End; protocol: Protocol };

/** The fate of a connection's first packet. Undefined: it depends on the address of a host. */
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

/** What denies wins over what allows; of several, hosts come to the one with the smallest id first. */
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
