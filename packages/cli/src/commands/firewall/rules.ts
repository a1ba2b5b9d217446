import type { Schemas } from '@gantry/sdk';
import { buildCommand } from '@stricli/core';
import type { CliContext } from '../../cli-context.ts';
import { connectToProject } from '../../config/connect.ts';
import { printList } from '../../terminal/print.ts';
import type { Style } from '../../terminal/style.ts';
import { firewallRuleNames, networkNames } from '../complete-names.ts';
import { confirm, type YesFlag, yesFlag } from '../confirm.ts';
import { findByName } from '../find-by-name.ts';
import { finishOperation, type WaitFlag, waitFlag } from '../finish-operation.ts';
import {
  argument,
  type CommonFlags,
  commonFlags,
  optionalText,
  outputAlias,
  requiredText,
} from '../flags.ts';
import { parseEndpoint } from './endpoint.ts';

type Rule = Schemas['FirewallRule'];
const STYLES: Partial<Record<Rule['state'], Style>> = { active: 'green' };

export const listRules = buildCommand<
  CommonFlags & { network: string | undefined },
  [],
  CliContext
>({
  docs: { brief: 'List firewall rules' },
  parameters: {
    flags: {
      ...commonFlags,
      network: optionalText('Only rules of this network', 'network', networkNames),
    },
    aliases: outputAlias,
  },
  async func({ network, ...flags }) {
    const { client, project_id } = await connectToProject(this, flags);
    const { items: networks } = await client.networks.list({ project_id });
    const only = network && (await findByName('network', network, networks));
    const { items } = await client.firewallRules.list({ project_id });
    const rules = items.filter((rule) => !only || rule.vpc_network_id === only.id);
    const nameOf = (id: string) => networks.find((each) => each.id === id)?.name;
    // A rule of a network often names the network itself.
    const endText = (id: string) => (nameOf(id) === undefined ? id : `network:${nameOf(id)}`);
    printList(this, rules, {
      ...{ format: flags.output, nothing: 'There are no firewall rules.' },
      columns: [
        { title: 'NAME', value: ({ name }) => name },
        { title: 'DIRECTION', value: ({ direction }) => direction },
        { title: 'ACTION', value: ({ action }) => action },
        { title: 'PROTOCOLS', value: ({ protocols }) => protocols.join(' ') },
        { title: 'FROM', value: ({ sources }) => endpointText(sources, endText) },
        { title: 'TO', value: ({ destinations }) => endpointText(destinations, endText) },
        { title: 'PORTS', value: portsText },
        {
          title: 'STATE',
          value: ({ state }) => state,
          style: ({ state }) => STYLES[state] ?? 'yellow',
        },
        { title: 'NETWORK', value: (rule) => nameOf(rule.vpc_network_id) ?? '', isExtra: true },
      ],
    });
  },
});

function endpointText(endpoints: Rule['sources'], nameOf = (id: string) => id): string {
  if (endpoints.length === 0) return 'anywhere';
  return endpoints
    .map(({ cidr, resource_id }) => cidr || nameOf(resource_id) || 'anywhere')
    .join(' ');
}

function portsText({ source_ports, destination_ports, protocols }: Rule): string {
  if (protocols.every((protocol) => protocol === 'icmp')) return '';
  const from = source_ports.length > 0 ? ` from ${source_ports.join(' ')}` : '';
  return `${destination_ports.join(' ') || 'all'}${from}`;
}

function ruleFields(rule: Rule) {
  return [
    ['Name', rule.name],
    ['Id', rule.id],
    ['Direction', rule.direction],
    ['Action', rule.action],
    ['Protocols', rule.protocols.join(' ')],
    ['From', endpointText(rule.sources)],
    ['To', endpointText(rule.destinations)],
    ['Ports', portsText(rule)],
    ['State', rule.state],
  ] as const;
}

type Texts = readonly string[] | undefined;
type CreateFlags = CommonFlags &
  WaitFlag & {
    network: string;
    action: Rule['action'];
    direction: Rule['direction'];
    protocol: readonly Rule['protocols'][number][];
    from: Texts;
    to: Texts;
    port: Texts;
    sourcePort: Texts;
  };

const several = (brief: string, placeholder: string) =>
  ({ ...optionalText(brief, placeholder), variadic: ',' }) as const;

export const createRule = buildCommand<CreateFlags, [string], CliContext>({
  docs: {
    brief: 'Create a firewall rule',
    fullDescription:
      'An end of the rule is an address, a block such as 10.0.0.0/8, vm:NAME, subnet:NAME, ' +
      'network:NAME, or an id. Without --from or --to, that end is anywhere.',
    customUsage: [
      'web --network lab --protocol tcp --port 80,443',
      'inside --network lab --from network:lab',
    ],
  },
  parameters: {
    flags: {
      ...commonFlags,
      ...waitFlag,
      network: requiredText('The network of the rule, by name or id', 'network', networkNames),
      action: {
        ...({ kind: 'enum', values: ['allow', 'deny'], default: 'allow' } as const),
        brief: 'What happens to a connection that matches',
      },
      direction: {
        ...({ kind: 'enum', values: ['ingress', 'egress'], default: 'ingress' } as const),
        brief: 'Seen from the VMs of the network',
      },
      protocol: {
        ...({ kind: 'enum', values: ['tcp', 'udp', 'icmp'], variadic: ',' } as const),
        ...({ default: ['tcp'], placeholder: 'protocol,…' } as const),
        brief: 'The protocols',
      },
      from: several('Where connections come from', 'end,…'),
      to: several('Where connections go to', 'end,…'),
      port: several('The ports that connections go to, such as 22 or 3000-8080', 'port,…'),
      sourcePort: several('The ports that connections come from', 'port,…'),
    },
    aliases: outputAlias,
    positional: { kind: 'tuple', parameters: [argument('The name of the new rule', 'name')] },
  },
  async func(flags, name) {
    const connection = await connectToProject(this, flags);
    const { client, project_id } = connection;
    const networks = client.networks.list({ project_id });
    const { id: vpc_network_id } = await findByName('network', flags.network, networks);
    const ends = (flag: string, typed: Texts = []) =>
      Promise.all(typed.map((each) => parseEndpoint(connection, flag, each)));
    const body: Schemas['CreateFirewallRule'] = {
      ...{ name, vpc_network_id, action: flags.action, direction: flags.direction },
      protocols: [...flags.protocol],
      sources: await ends('--from', flags.from),
      destinations: await ends('--to', flags.to),
      ...(flags.port && { destination_ports: [...flags.port] }),
      ...(flags.sourcePort && { source_ports: [...flags.sourcePort] }),
    };
    const { operation } = await client.firewallRules.create({ project_id, body });
    const title = `create ${name}`;
    await finishOperation<Rule>(this, connection, { operation, title, flags, fields: ruleFields });
  },
});

export const deleteRule = buildCommand<CommonFlags & WaitFlag & YesFlag, [string], CliContext>({
  docs: { brief: 'Delete a firewall rule', fullDescription: 'On a terminal it asks first.' },
  parameters: {
    flags: { ...commonFlags, ...waitFlag, ...yesFlag },
    aliases: { ...outputAlias, y: 'yes' },
    positional: {
      kind: 'tuple',
      parameters: [argument('The name or the id', 'rule', firewallRuleNames)],
    },
  },
  async func(flags, wanted) {
    const connection = await connectToProject(this, flags);
    const { client, project_id } = connection;
    const rules = client.firewallRules.list({ project_id });
    const { id: rule_id, name } = await findByName('firewall rule', wanted, rules);
    await confirm(this, flags, `Delete the firewall rule ${name}?`);
    const { operation } = await client.firewallRules.delete({ project_id, rule_id });
    await finishOperation(this, connection, { operation, title: `delete ${name}`, flags });
  },
});
