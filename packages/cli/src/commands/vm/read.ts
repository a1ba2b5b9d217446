import { buildCommand } from '@stricli/core';
import type { CliContext } from '../../cli-context.ts';
import { connectToProject } from '../../config/connect.ts';
import { printList, printOne } from '../../terminal/print.ts';
import { printableLines } from '../../terminal/printable.ts';
import { type CommonFlags, commonFlags, outputAlias } from '../flags.ts';
import { costText } from '../price.ts';
import { type Tag, tagFlag } from '../tags.ts';
import { findVm, type Vm, vmArgument, vmColumns, vmFields } from './vm.ts';

type Words = readonly string[] | undefined;
type ListFlags = CommonFlags & {
  name: Words;
  type: Words;
  location: Words;
  state: readonly State[] | undefined;
  tag: readonly Tag[] | undefined;
  newestFirst: boolean;
};
type State = (typeof STATES)[number];
const STATES = [
  ...(['creating', 'running', 'stopping', 'shutoff', 'starting', 'resetting'] as const),
  ...(['crashed', 'unreachable', 'error', 'deleting'] as const),
] as const;

const filter = (brief: string, placeholder: string) =>
  ({
    kind: 'parsed',
    parse: (value: string) => value,
    variadic: ',',
    optional: true,
    brief,
    placeholder,
  }) as const;

export const listVms = buildCommand<ListFlags, [], CliContext>({
  docs: { brief: 'List VMs', fullDescription: 'Lists the VMs that match every filter.' },
  parameters: {
    flags: {
      ...commonFlags,
      name: filter('Only VMs with one of these names', 'name,…'),
      type: filter('Only VMs of one of these types', 'type,…'),
      location: filter('Only VMs in one of these locations', 'location,…'),
      state: {
        ...{ kind: 'enum', values: STATES, variadic: ',', optional: true },
        ...{ brief: 'Only VMs in one of these states', placeholder: 'state,…' },
      },
      tag: tagFlag('Only VMs with this tag; may be repeated'),
      newestFirst: {
        ...{ kind: 'boolean', default: false, withNegated: false },
        brief: 'Begin with the newest VM instead of the oldest',
      },
    },
    aliases: outputAlias,
  },
  async func(flags) {
    const { client, project_id } = await connectToProject(this, flags);
    const { name, type, location, state, tag } = flags;
    const vms: Vm[] = [];
    const filters = {
      ...(name && { names: name.join(',') }),
      ...(type && { types: type.join(',') }),
      ...(location && { locations: location.join(',') }),
      ...(state && { states: state.map((each) => `STATE_${each.toUpperCase()}`).join(',') }),
      ...(tag && { tag: tag.map(({ key, value }) => `${key}:${value}`) }),
    };
    const sort = flags.newestFirst ? '-created_at' : undefined;
    for await (const vm of client.vms.list({ project_id, ...filters, ...(sort && { sort }) }))
      vms.push(vm);
    printList(this, vms, {
      ...{ format: flags.output, columns: vmColumns },
      nothing: Object.keys(filters).length === 0 ? 'There are no VMs.' : 'No VM matches.',
    });
  },
});

export const showVm = buildCommand<CommonFlags, [string], CliContext>({
  docs: { brief: 'Show a VM' },
  parameters: { flags: commonFlags, aliases: outputAlias, positional: vmArgument },
  async func(flags, wanted) {
    const connection = await connectToProject(this, flags);
    const vm = await findVm(connection, wanted);
    const { client, project_id } = connection;
    const usage = await client.vmUsage.get({ project_id, vm_id: vm.id });
    const fields = [...vmFields(vm), ['Cost so far', costText(usage)]] as const;
    printOne(this, { ...vm, usage }, { format: flags.output, fields });
  },
});

export const printLogs = buildCommand<CommonFlags, [string], CliContext>({
  docs: {
    brief: 'Print the last output of the serial console of a VM',
    fullDescription:
      'Prints the last 64 KiB. On a terminal, escape sequences of the guest are left out; in a pipe ' +
      'or a file the output is unchanged.',
  },
  parameters: { flags: commonFlags, aliases: outputAlias, positional: vmArgument },
  async func(flags, wanted) {
    const connection = await connectToProject(this, flags);
    const { client, project_id } = connection;
    const { id: vm_id } = await findVm(connection, wanted);
    const log = await client.serialLogs.get({ project_id, vm_id });
    const { stdout, stderr } = this.process;
    if (flags.output !== 'table') printOne(this, log, { format: flags.output, fields: [] });
    else if (log.serial_log === '') stderr.write('The VM has printed nothing yet.\n');
    else stdout.write(stdout.isTTY ? printableLines(log.serial_log) : log.serial_log);
  },
});
