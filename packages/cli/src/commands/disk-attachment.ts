import { buildCommand } from '@stricli/core';
import type { CliContext } from '../cli-context.ts';
import { UsageError } from '../cli-errors.ts';
import { connectToProject, type ProjectConnection } from '../config/connect.ts';
import { diskNames, vmNames } from './complete-names.ts';
import { findByName } from './find-by-name.ts';
import { finishOperation, type WaitFlag, waitFlag } from './finish-operation.ts';
import { argument, type CommonFlags, commonFlags, outputAlias } from './flags.ts';
import { findVm } from './vm/vm.ts';

const diskParameter = argument('The name or the id of the disk', 'disk', diskNames);
const vmParameter = argument('The name or the id of the VM', 'vm', vmNames);

async function findDisk({ client, project_id }: ProjectConnection, wanted: string) {
  return await findByName('disk', wanted, client.disks.list({ project_id }));
}

type AttachFlags = CommonFlags & WaitFlag & { readOnly: boolean };

export const attachDisk = buildCommand<AttachFlags, [string, string], CliContext>({
  docs: {
    brief: 'Attach a disk to a running or stopped VM',
    fullDescription: 'The disk and the VM must be in the same location.',
  },
  parameters: {
    flags: {
      ...commonFlags,
      ...waitFlag,
      readOnly: {
        ...({ kind: 'boolean', default: false, withNegated: false } as const),
        brief: 'The VM cannot write to the disk, and several VMs can have it',
      },
    },
    aliases: outputAlias,
    positional: { kind: 'tuple', parameters: [diskParameter, vmParameter] },
  },
  async func(flags, wanted, wantedVm) {
    const connection = await connectToProject(this, flags);
    const { client, project_id } = connection;
    const { id: disk_id, name } = await findDisk(connection, wanted);
    const { id: vm_id } = await findVm(connection, wantedVm);
    const mode = flags.readOnly ? 'read-only' : 'read-write';
    const { operation } = await client.vms.attachDisks({
      ...{ project_id, vm_id, body: { attach_disks: [{ disk_id, mode }] } },
    });
    await finishOperation(this, connection, { operation, title: `attach ${name}`, flags });
  },
});

export const detachDisk = buildCommand<
  CommonFlags & WaitFlag,
  [string, string | undefined],
  CliContext
>({
  docs: {
    brief: 'Detach a disk from a running or stopped VM',
    fullDescription: 'The disk keeps its content. Unmount it in the guest first.',
  },
  parameters: {
    ...{ flags: { ...commonFlags, ...waitFlag }, aliases: outputAlias },
    positional: {
      kind: 'tuple',
      parameters: [
        diskParameter,
        {
          ...vmParameter,
          ...{ brief: 'The VM, if several have the disk', optional: true },
        },
      ],
    },
  },
  async func(flags, wanted, wantedVm) {
    const connection = await connectToProject(this, flags);
    const { client, project_id } = connection;
    const { id, name, vm_ids } = await findDisk(connection, wanted);
    const vm_id =
      wantedVm === undefined ? onlyVm(name, vm_ids) : (await findVm(connection, wantedVm)).id;
    const body = { detach_disks: [id] };
    const { operation } = await client.vms.detachDisks({ project_id, vm_id, body });
    await finishOperation(this, connection, { operation, title: `detach ${name}`, flags });
  },
});

function onlyVm(name: string, [vm_id, ...others]: readonly string[]): string {
  if (vm_id === undefined) throw new UsageError(`the disk ${name} is attached to no VM`);
  if (others.length > 0)
    throw new UsageError(`several VMs have the disk ${name}: gantry disk detach ${name} VM`);
  return vm_id;
}
