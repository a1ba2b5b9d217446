import type { Schemas } from '@gantry/sdk';
import { buildCommand, numberParser } from '@stricli/core';
import type { CliContext } from '../../cli-context.ts';
import { connectToProject } from '../../config/connect.ts';
import { printList, printOne } from '../../terminal/print.ts';
import { vmNames } from '../complete-names.ts';
import { argument, type CommonFlags, commonFlags, outputAlias } from '../flags.ts';
import { parseEnd } from './endpoint.ts';

type Trace = Schemas['FirewallTrace'];
type TraceFlags = CommonFlags & {
  protocol: 'tcp' | 'udp' | 'icmp';
  port: number | undefined;
  sourcePort: number | undefined;
};

const port = (brief: string) =>
  ({ kind: 'parsed', parse: numberParser, optional: true, placeholder: 'port', brief }) as const;

export const traceConnection = buildCommand<TraceFlags, [string, string], CliContext>({
  docs: {
    brief: 'Find out whether the rules allow a connection, and which rule decides',
    fullDescription: 'Changes nothing. An end is a VM, by name or id, or an IPv4 address.',
    customUsage: ['198.51.100.7 trainer --port 22', 'trainer 1.1.1.1 --protocol icmp'],
  },
  parameters: {
    flags: {
      ...commonFlags,
      protocol: {
        ...({ kind: 'enum', values: ['tcp', 'udp', 'icmp'], default: 'tcp' } as const),
        brief: 'The protocol of the connection',
      },
      port: port('The port that it goes to; needed unless the protocol is icmp'),
      sourcePort: port('The port that it comes from, if a rule depends on it'),
    },
    aliases: outputAlias,
    positional: {
      kind: 'tuple',
      parameters: [
        argument('Where the connection comes from', 'from', vmNames),
        argument('Where it goes to', 'to', vmNames),
      ],
    },
  },
  async func({ protocol, port, sourcePort, ...flags }, from, to) {
    const connection = await connectToProject(this, flags);
    const body = {
      ...{ from: await parseEnd(connection, from), to: await parseEnd(connection, to), protocol },
      ...(port !== undefined && { port }),
      ...(sourcePort !== undefined && { source_port: sourcePort }),
    };
    const { client, project_id } = connection;
    const trace = await client.firewallRules.trace({ project_id, body });
    if (flags.output !== 'table')
      return printOne(this, trace, { format: flags.output, fields: [] });
    if (trace.steps.length > 0)
      printList(this, trace.steps, {
        ...{ format: flags.output, nothing: '' },
        columns: [
          { title: 'STEP', value: ({ direction }) => direction },
          { title: 'FROM', value: ({ source }) => source },
          { title: 'TO', value: ({ destination }) => destination },
          {
            title: 'ALLOWED',
            value: ({ allowed }) => (allowed ? 'yes' : 'no'),
            style: ({ allowed }) => (allowed ? 'green' : 'red'),
          },
          { title: 'RULE', value: ({ rule_name }) => rule_name || '(no rule allows it)' },
        ],
      });
    this.process.stdout.write(`${verdict(trace)}\n`);
  },
});

const REASONS: Record<Trace['reason'], string> = {
  allowed: 'The connection is allowed.',
  denied_by_rule: 'The connection is denied by a rule.',
  no_rule_allows: 'The connection is dropped: no rule allows it.',
  no_route: 'There is no path between the two ends, whatever the rules allow.',
  answered_by_gateway: 'The host replies for the gateway: no rule is asked.',
};

function verdict({ reason, settled }: Trace): string {
  const text = REASONS[reason] ?? reason;
  return settled ? text : `${text} A rule is still on its way to a host.`;
}
