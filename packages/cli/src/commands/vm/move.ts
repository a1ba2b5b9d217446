import { buildCommand } from '@stricli/core';
import type { CliContext } from '../../cli-context.ts';
import { connectToProject } from '../../config/connect.ts';
import { finishOperation, type WaitFlag, waitFlag } from '../finish-operation.ts';
import { type CommonFlags, commonFlags, optionalText, outputAlias } from '../flags.ts';
import { findHost } from '../operator/host.ts';
import { findVm, vmArgument } from './vm.ts';

type MoveFlags = CommonFlags & WaitFlag & { host: string | undefined; notice: string | undefined };

export const moveVm = buildCommand<MoveFlags, [string], CliContext>({
  docs: {
    brief: 'Stop a VM and start it on another host (for operators)',
    fullDescription:
      'All its disks must be in storage clusters. The guest is shut down, and its tenant gets an event with ' +
      'the notice. It is refused if no other host has room.',
  },
  parameters: {
    flags: {
      ...commonFlags,
      ...waitFlag,
      host: optionalText('The host to prefer (default: the scheduler chooses)', 'host'),
      notice: optionalText('What the tenant is told', 'text'),
    },
    ...{ aliases: outputAlias, positional: vmArgument },
  },
  async func({ host, notice, ...flags }, wanted) {
    const connection = await connectToProject(this, flags);
    const { client } = connection;
    const { id: vm_id, name } = await findVm(connection, wanted);
    const chosen = host === undefined ? undefined : await findHost(client, host);
    const body = { ...(chosen && { host_id: chosen.id }), ...(notice && { notice }) };
    const { operation } = await client.adminVms.move({ vm_id, body });
    await finishOperation(this, connection, { operation, title: `move ${name}`, flags });
  },
});
