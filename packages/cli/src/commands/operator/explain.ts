import type { Schemas } from '@gantry/sdk';
import { buildCommand } from '@stricli/core';
import type { CliContext } from '../../cli-context.ts';
import { connect } from '../../config/connect.ts';
import { printList, printOne } from '../../terminal/print.ts';
import { hostNames, locationNames, typeNames } from '../complete-names.ts';
import {
  type CommonFlags,
  commonFlags,
  optionalText,
  outputAlias,
  requiredText,
} from '../flags.ts';
import { findHost } from './host.ts';

type Explanation = Schemas['PlacementExplanation'];
type ExplainFlags = CommonFlags & { type: string; location: string; host: string | undefined };

export const explainCommand = buildCommand<ExplainFlags, [], CliContext>({
  docs: {
    brief: 'Explain where a VM would be placed now, or why no host fits (for operators)',
    fullDescription:
      'Prints how many hosts each filter leaves, the reason of each host that does not fit, and the ' +
      'devices that the VM would get. It creates nothing.',
  },
  parameters: {
    flags: {
      ...commonFlags,
      type: requiredText('The VM type', 'type', typeNames),
      location: requiredText('The location', 'location', locationNames),
      host: optionalText('Only this host', 'host', hostNames),
    },
    aliases: outputAlias,
  },
  async func({ type, location, host, ...flags }) {
    const { client } = await connect(this, flags);
    const only = host === undefined ? {} : { host_id: (await findHost(client, host)).id };
    const explanation = await client.adminPlacements.explain({ body: { type, location, ...only } });
    const format = flags.output;
    if (format !== 'table') return printOne(this, explanation, { format, fields: [] });
    const { stdout } = this.process;
    printList(this, explanation.filters, {
      ...{ format, nothing: 'There are no hosts.' },
      columns: [
        { title: 'FILTER', value: ({ filter }) => filter },
        {
          title: 'HOSTS LEFT',
          value: ({ left }) => String(left),
          style: ({ left }) => (left === 0 ? 'red' : undefined),
        },
      ],
    });
    const others = explanation.hosts.filter(({ fits }) => !fits);
    if (others.length > 0) {
      stdout.write('\n');
      printList(this, others, {
        ...{ format, nothing: '' },
        columns: [
          { title: 'HOST', value: ({ name }) => name },
          { title: 'WHY NOT', value: ({ reason }) => reason },
        ],
      });
    }
    stdout.write(`\n${verdict(explanation, type)}\n`);
  },
});

function verdict({ placement }: Explanation, type: string): string {
  if (placement.host_id === '') return `No host has room for ${type}.`;
  const devices = [...placement.gpus, ...placement.drives].map(({ pci_address }) => pci_address);
  return `${type} would be placed on ${placement.host_name} with ${devices.join(' ') || 'no devices'}.`;
}
