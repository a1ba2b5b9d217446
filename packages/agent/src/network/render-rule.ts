import { formatIpv4 } from '@gantry/model/cidr';
import { EVERY_ADDRESS, EVERY_PORT, type Rule } from './parse-rule.ts';
import type { Range } from './ranges.ts';

/**
 * One network's rules of one direction, as the lines of a chain: what is denied is dropped first,
 * what is allowed returns, and the rest is dropped.
 */
export function renderRuleChain(rules: readonly Rule[]): string[] {
  const lines = (action: Rule['action']) =>
    rules.filter((rule) => rule.action === action).flatMap(renderRule);
  return [...lines('deny'), ...lines('allow'), 'counter drop comment "no rule allows it"'];
}

function renderRule(rule: Rule): string[] {
  if (rule.sources.length === 0 || rule.destinations.length === 0) return [];
  const verdict = `counter ${rule.action === 'deny' ? 'drop' : 'return'} comment "rule ${rule.id}"`;
  const addresses = [
    ...matchRanges('ip saddr', rule.sources, { every: EVERY_ADDRESS, format: formatIpv4 }),
    ...matchRanges('ip daddr', rule.destinations, { every: EVERY_ADDRESS, format: formatIpv4 }),
  ];
  const ports = [
    ...matchRanges('th sport', rule.sourcePorts, { every: EVERY_PORT, format: String }),
    ...matchRanges('th dport', rule.destinationPorts, { every: EVERY_PORT, format: String }),
  ];
  const withPorts = rule.protocols.filter((protocol) => protocol !== 'icmp');
  const lines: string[][] = [];
  if (withPorts.length > 0) {
    lines.push([`ip protocol { ${withPorts.join(', ')} }`, ...addresses, ...ports, verdict]);
  }
  // It has no ports, so a rule's ports say nothing of it.
  if (rule.protocols.includes('icmp')) lines.push(['ip protocol icmp', ...addresses, verdict]);
  return lines.map((line) => line.join(' '));
}

type Axis = { every: Range; format: (value: number) => string };

function matchRanges(field: string, ranges: readonly Range[], { every, format }: Axis): string[] {
  const isEvery = ranges.some(({ first, last }) => first === every.first && last === every.last);
  if (isEvery) return [];
  const texts = ranges.map(({ first, last }) =>
    first === last ? format(first) : `${format(first)}-${format(last)}`,
  );
  return [`${field} { ${texts.join(', ')} }`];
}
