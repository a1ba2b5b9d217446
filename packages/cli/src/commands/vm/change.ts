import { buildCommand } from '@stricli/core';
import type { CliContext } from '../../cli-context.ts';
import { connectToProject } from '../../config/connect.ts';
import { rememberVmKey } from '../../config/vm-keys.ts';
import { confirm, type YesFlag, yesFlag } from '../confirm.ts';
import { finishOperation, type WaitFlag, waitFlag } from '../finish-operation.ts';
import { type CommonFlags, commonFlags, outputAlias } from '../flags.ts';
import { findVm, vmArgument } from './vm.ts';

type ChangeFlags = CommonFlags & WaitFlag;

function powerCommand(action: 'START' | 'STOP' | 'RESET', brief: string, fullDescription: string) {
  return buildCommand<ChangeFlags, [string], CliContext>({
    docs: { brief, fullDescription },
    parameters: {
      flags: { ...commonFlags, ...waitFlag },
      ...{ aliases: outputAlias, positional: vmArgument },
    },
    async func(flags, wanted) {
      const connection = await connectToProject(this, flags);
      const { client, project_id } = connection;
      const { id: vm_id, name } = await findVm(connection, wanted);
      const { operation } = await client.vms.change({ project_id, vm_id, body: { action } });
      const title = `${action.toLowerCase()} ${name}`;
      await finishOperation(this, connection, { operation, title, flags });
    },
  });
}

export const startVm = powerCommand(
  ...(['START', 'Start a VM', 'The VM may get other GPUs and another public address.'] as const),
);
export const stopVm = powerCommand(
  ...(['STOP', 'Stop a VM', 'Its GPUs are released and its NVMe drives are erased.'] as const),
);
export const resetVm = powerCommand(
  ...(['RESET', 'Reset a VM', 'A hard reset, without a shutdown of the guest.'] as const),
);

type DeleteFlags = ChangeFlags & YesFlag;

export const deleteVm = buildCommand<DeleteFlags, [string], CliContext>({
  docs: {
    brief: 'Delete a VM and its OS disk',
    fullDescription: 'Data disks are detached and keep their content. On a terminal it asks first.',
  },
  parameters: {
    flags: { ...commonFlags, ...waitFlag, ...yesFlag },
    aliases: { ...outputAlias, y: 'yes' },
    positional: vmArgument,
  },
  async func(flags, wanted) {
    const connection = await connectToProject(this, flags);
    const { client, project_id } = connection;
    const { id: vm_id, name } = await findVm(connection, wanted);
    await confirm(this, flags, `Delete the VM ${name} and its OS disk?`);
    const { operation } = await client.vms.delete({ project_id, vm_id });
    await rememberVmKey(this.process.env, vm_id, undefined);
    await finishOperation(this, connection, { operation, title: `delete ${name}`, flags });
  },
});
