import { type Schemas, usageCsv } from '@gantry/sdk';
import { buildCommand } from '@stricli/core';
import type { CliContext } from '../cli-context.ts';
import { UsageError } from '../cli-errors.ts';
import { connectToProject } from '../config/connect.ts';
import { printList } from '../terminal/print.ts';
import { projectNames } from './complete-names.ts';
import { findByName } from './find-by-name.ts';
import { type CommonFlags, commonFlags, optionalText, outputAlias } from './flags.ts';

type Usage = Schemas['Usage'];
type UsageFlags = CommonFlags & {
  from: string | undefined;
  to: string | undefined;
  project: string | undefined;
  csv: boolean;
};

export const usageCommand = buildCommand<UsageFlags, [], CliContext>({
  docs: {
    brief: 'List usage and cost by day',
    fullDescription:
      'Lists what the organization of the project used, in the projects that you may see. A day is ' +
      'listed once it is closed, shortly after midnight UTC.',
  },
  parameters: {
    flags: {
      ...commonFlags,
      from: optionalText('The first day, such as 2026-01-31 (default: 30 days)', 'date'),
      to: optionalText('The last day (default: the last closed one)', 'date'),
      csv: {
        kind: 'boolean',
        default: false,
        withNegated: false,
        brief: 'Print a table for spreadsheets',
      },
      project: optionalText('Only this project, by name or id', 'project', projectNames),
    },
    aliases: outputAlias,
  },
  async func({ from, to, project, csv, ...flags }) {
    const { client, project_id } = await connectToProject(this, flags);
    const projects = await client.projects.list();
    const own = projects.find(({ id }) => id === project_id);
    if (own === undefined) throw new UsageError('you do not belong to the project of the context');
    const only = project && (await findByName('project', project, projects));
    const { organization_id } = only || own;
    const { items } = await client.usage.list({
      organization_id,
      ...(from && { start_date: from }),
      ...(to && { end_date: to }),
      ...(only && { projects: only.id }),
    });
    const names = new Map(projects.map(({ id, name }) => [id, name]));
    if (csv) {
      this.process.stdout.write(usageCsv(items, names));
      return;
    }
    const nameOf = (id: string) => names.get(id) ?? id;
    const rows = flags.output === 'table' && items.length > 0 ? [...items, totalOf(items)] : items;
    printList(this, rows, {
      ...{ format: flags.output, nothing: 'Nothing was used in these days.' },
      columns: [
        { title: 'DAY', value: ({ date }) => date },
        { title: 'PROJECT', value: (row) => nameOf(row.project_id) },
        { title: 'TYPE', value: ({ resource_type }) => resource_type },
        { title: 'QUANTITY', value: quantityText },
        { title: 'USD', value: ({ cost_usd }) => cost_usd.toFixed(2) },
        { title: 'REGION', value: ({ region }) => region, isExtra: true },
        { title: 'NOTE', value: noteText, isExtra: true },
      ],
    });
  },
});

function totalOf(items: readonly Usage[]): Usage {
  const cost_usd = items.reduce((sum, each) => sum + each.cost_usd, 0);
  const none = { project_id: '', resource_type: '', region: '', quantity: 0 } as const;
  const unset = { priced: true, adjustment_reason: '', adjusted_at: '' } as const;
  return { date: 'total', billable_metric: 'vm_seconds', ...none, ...unset, cost_usd };
}

function quantityText({ quantity, billable_metric, date }: Usage): string {
  if (date === 'total') return '';
  return billable_metric === 'vm_seconds'
    ? `${(quantity / 3600).toFixed(2)} VM hours`
    : `${quantity.toFixed(2)} GB hours`;
}

function noteText({ priced, adjustment_reason }: Usage): string {
  return adjustment_reason || (priced ? '' : 'no price was set');
}
