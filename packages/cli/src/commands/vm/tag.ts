import { buildCommand } from '@stricli/core';
import type { CliContext } from '../../cli-context.ts';
import { connectToProject } from '../../config/connect.ts';
import { vmNames } from '../complete-names.ts';
import { finishOperation } from '../finish-operation.ts';
import { argument, type CommonFlags, commonFlags, outputAlias } from '../flags.ts';
import { changeTags, parseTagChanges } from '../tags.ts';
import { findVm, type Vm, vmFields } from './vm.ts';

export const tagVm = buildCommand<CommonFlags, string[], CliContext>({
  docs: {
    brief: 'Change tags of a VM',
    fullDescription:
      'key=value sets a tag, and key- removes it. The other tags stay, also those that another ' +
      'program changes at the same time.',
    customUsage: ['VM env=prod team=vision', 'VM env-'],
  },
  parameters: {
    ...{ flags: commonFlags, aliases: outputAlias },
    positional: {
      ...({ kind: 'array', minimum: 2 } as const),
      parameter: argument('The name or the id of the VM, then changes', 'vm change', vmNames),
    },
  },
  async func(flags, wanted = '', ...typed) {
    const changes = parseTagChanges(typed);
    const connection = await connectToProject(this, flags);
    const { client, project_id } = connection;
    const { id: vm_id, name } = await findVm(connection, wanted);
    const { operation } = await changeTags(
      {
        read: async (options) => (await client.vms.get({ project_id, vm_id }, options)).tags,
        write: (tags, options) =>
          client.vms.change({ project_id, vm_id, body: { action: 'UPDATE', tags } }, options),
      },
      changes,
    );
    await finishOperation<Vm>(this, connection, {
      ...{ operation, title: `tag ${name}`, flags: { ...flags, wait: true }, fields: vmFields },
    });
  },
});
