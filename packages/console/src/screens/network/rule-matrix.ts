import type { Schemas } from '@gantry/sdk';

export type Rule = Schemas['FirewallRule'];
type Endpoint = Rule['sources'][number];

export type Matrix = {
  sources: string[];
  destinations: string[];
  /** The rules from a source to a destination. */
  at(source: string, destination: string): Rule[];
};

const ANYWHERE = 'Anywhere';

/** Arranges rules by where connections come from and where they go to. `names` has resources by id. */
export function arrangeRules(rules: Rule[], names: ReadonlyMap<string, string>): Matrix {
  const labelsOf = (endpoints: Endpoint[]) =>
    endpoints.length === 0
      ? [ANYWHERE]
      : [...new Set(endpoints.map((each) => labelOf(each, names)))];
  const placed = rules.map((rule) => ({
    rule,
    sources: labelsOf(rule.sources),
    destinations: labelsOf(rule.destinations),
  }));
  return {
    sources: inOrder(placed.flatMap(({ sources }) => sources)),
    destinations: inOrder(placed.flatMap(({ destinations }) => destinations)),
    at: (source, destination) =>
      placed
        .filter((each) => each.sources.includes(source) && each.destinations.includes(destination))
        .map(({ rule }) => rule),
  };
}

function labelOf({ cidr, resource_id }: Endpoint, names: ReadonlyMap<string, string>): string {
  if (resource_id !== '') return names.get(resource_id) ?? resource_id;
  return cidr === '' ? ANYWHERE : cidr;
}

function inOrder(labels: string[]): string[] {
  const rest = [...new Set(labels)].filter((label) => label !== ANYWHERE).sort();
  return labels.includes(ANYWHERE) ? [ANYWHERE, ...rest] : rest;
}

/** What a rule matches, such as `tcp 22, 80`. */
export function describeTraffic({ protocols, destination_ports, source_ports }: Rule): string {
  const ports = destination_ports.length === 0 ? '' : ` ${destination_ports.join(', ')}`;
  const from = source_ports.length === 0 ? '' : ` from port ${source_ports.join(', ')}`;
  return `${protocols.join(', ')}${ports}${from}`;
}
