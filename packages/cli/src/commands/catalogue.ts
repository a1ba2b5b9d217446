import type { Schemas } from '@gantry/sdk';
import { buildCommand } from '@stricli/core';
import type { CliContext } from '../cli-context.ts';
import { connectToProject } from '../config/connect.ts';
import { printList } from '../terminal/print.ts';
import { locationNames, typeNames } from './complete-names.ts';
import { type CommonFlags, commonFlags, optionalText, outputAlias } from './flags.ts';
import { priceText } from './price.ts';

type AvailabilityFlags = CommonFlags & { type: string | undefined; location: string | undefined };

export const availabilityCommand = buildCommand<AvailabilityFlags, [], CliContext>({
  docs: {
    brief: 'List the VM types, how many VMs of each fit now in each location, and their prices',
    fullDescription:
      'If no VM fits, the reason is shown. A snapshot: another tenant may take the last GPU before ' +
      'your VM is created.',
  },
  parameters: {
    flags: {
      ...commonFlags,
      type: optionalText('Only this VM type', 'type', typeNames),
      location: optionalText('Only this location', 'location', locationNames),
    },
    aliases: outputAlias,
  },
  async func({ type, location, output, context }) {
    const { client, project_id } = await connectToProject(this, { context });
    const filters = { ...(type && { product_name: type }), ...(location && { location }) };
    const [{ items }, specs] = await Promise.all([
      client.availabilities.list({ project_id, ...filters }),
      client.specs.list({ project_id }),
    ]);
    const specOf = (row: Schemas['Availability']) =>
      specs.items.find(({ product_name }) => product_name === row.type);
    printList(this, items, {
      ...{ format: output, nothing: 'Nothing is offered.' },
      columns: [
        { title: 'TYPE', value: (row) => row.type },
        { title: 'LOCATION', value: (row) => row.location },
        {
          title: 'AVAILABLE',
          value: availableText,
          style: ({ available }) => (available ? 'green' : 'red'),
        },
        { title: 'USD/HOUR', value: priceText },
        { title: 'GPUS', value: (row) => gpuText(specOf(row)), isExtra: true },
        { title: 'CORES', value: (row) => String(specOf(row)?.cpu_cores ?? ''), isExtra: true },
        { title: 'MEMORY', value: (row) => memoryText(specOf(row)), isExtra: true },
        ...(items.some(({ reason }) => reason !== '') ? [reasonColumn] : []),
      ],
    });
  },
});

const reasonColumn = { title: 'REASON', value: ({ reason }: Schemas['Availability']) => reason };

/** The server counts up to this number. */
const MOST_COUNTED = 100;

function availableText({ count }: Schemas['Availability']): string {
  return count < MOST_COUNTED ? String(count) : `${MOST_COUNTED} or more`;
}

type Spec = Schemas['Spec'] | undefined;

function gpuText(spec: Spec): string {
  return spec === undefined ? '' : `${spec.num_gpu} x ${spec.gpu_type}`;
}

function memoryText(spec: Spec): string {
  return spec === undefined ? '' : `${spec.memory_gb} GB`;
}
