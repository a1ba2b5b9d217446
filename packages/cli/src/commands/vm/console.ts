import { buildCommand } from '@stricli/core';
import type { CliContext } from '../../cli-context.ts';
import { connectToProject } from '../../config/connect.ts';
import { type ContextFlag, contextFlag } from '../flags.ts';
import { attachTerminal, openSocket } from './serial-line.ts';
import { findVm, vmArgument } from './vm.ts';

export const openConsole = buildCommand<ContextFlag, [string], CliContext>({
  docs: {
    brief: 'Open the serial console of a VM',
    fullDescription:
      'Works without a network in the guest. Press Enter, ~ and . to leave. The login on the serial ' +
      'line stays open when you leave, so log out first.',
  },
  parameters: { flags: contextFlag, positional: vmArgument },
  async func(flags, wanted) {
    const connection = await connectToProject(this, flags);
    const { client, project_id, server } = connection;
    const { id: vm_id, name } = await findVm(connection, wanted);
    const { ticket } = await client.consoles.createTicket({ project_id, vm_id });
    // The address that the server knows itself by may not be the one that this computer reaches it by.
    const path = `/v0.1/projects/${project_id}/vms/${vm_id}/console?ticket=${ticket}`;
    const socket = await openSocket(`${server.replace(/^http/, 'ws')}${path}`);
    const { stdin, stderr } = this.process;
    const advice = stdin.isTTY ? ' Press Enter, ~ and . to leave.' : '';
    stderr.write(`Connected to the serial console of ${name}.${advice}\n`);
    await attachTerminal(this, socket);
    stderr.write('\nThe console is closed.\n');
  },
});
