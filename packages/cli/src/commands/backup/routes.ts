import type { Schemas } from '@gantry/sdk';
import { buildCommand, buildRouteMap } from '@stricli/core';
import type { CliContext } from '../../cli-context.ts';
import { connectToProject } from '../../config/connect.ts';
import { printList } from '../../terminal/print.ts';
import { backupNames, diskNames } from '../complete-names.ts';
import { confirm, type YesFlag, yesFlag } from '../confirm.ts';
import { findByName } from '../find-by-name.ts';
import { finishOperation, type WaitFlag, waitFlag } from '../finish-operation.ts';
import { argument, type CommonFlags, commonFlags, outputAlias } from '../flags.ts';
import { scheduleDisk, unscheduleDisk } from './schedule.ts';

type Backup = Schemas['Backup'];

const list = buildCommand<CommonFlags, [], CliContext>({
  docs: { brief: 'List backups of disks' },
  parameters: { flags: commonFlags, aliases: outputAlias },
  async func(flags) {
    const { client, project_id } = await connectToProject(this, flags);
    const { items } = await client.backups.list({ project_id });
    printList(this, items, {
      ...{ format: flags.output, nothing: 'There are no backups.' },
      columns: [
        { title: 'NAME', value: ({ name }) => name },
        { title: 'SIZE', value: ({ size }) => size },
        { title: 'STATE', value: ({ state }) => state },
        { title: 'CONTENT', value: ({ parent_id }) => (parent_id === '' ? 'whole' : 'changes') },
        { title: 'CREATED', value: ({ created_at }) => created_at },
        { title: 'LOCATION', value: ({ location }) => location },
        { title: 'STORED BYTES', value: ({ stored_bytes }) => String(stored_bytes), isExtra: true },
        { title: 'DISK', value: ({ disk_id }) => disk_id, isExtra: true },
        { title: 'PROBLEM', value: ({ problem }) => problem, isExtra: true },
      ],
    });
  },
});

type CreateFlags = CommonFlags & WaitFlag & { full: boolean };

const create = buildCommand<CreateFlags, [string, string], CliContext>({
  docs: {
    brief: 'Back up a disk',
    fullDescription:
      'The VM of the disk may run; then the backup has what its guest has written until then.',
  },
  parameters: {
    flags: {
      ...commonFlags,
      ...waitFlag,
      full: {
        ...({ kind: 'boolean', default: false, withNegated: false } as const),
        brief: 'Back up the whole content, and not only what has changed',
      },
    },
    aliases: outputAlias,
    positional: {
      kind: 'tuple',
      parameters: [
        argument('The name or the id of the disk', 'disk', diskNames),
        argument('The name of the new backup', 'name'),
      ],
    },
  },
  async func({ full, ...flags }, disk, name) {
    const connection = await connectToProject(this, flags);
    const { client, project_id } = connection;
    const { id: disk_id } = await findByName('disk', disk, client.disks.list({ project_id }));
    const { operation } = await client.backups.create({
      project_id,
      body: { name, disk_id, full },
    });
    const title = `back up ${disk}`;
    await finishOperation<Backup>(this, connection, { operation, title, flags, fields });
  },
});

function fields({ id, name, size, state, location, disk_id, parent_id, stored_bytes }: Backup) {
  return [
    ['Name', name],
    ['Id', id],
    ['Size', size],
    ['State', state],
    ['Content', parent_id === '' ? 'whole' : `changes since ${parent_id}`],
    ['Stored bytes', String(stored_bytes)],
    ['Location', location],
    ['Disk', disk_id],
  ] as const;
}

const positional = {
  kind: 'tuple',
  parameters: [argument('The name or the id', 'backup', backupNames)],
} as const;

const remove = buildCommand<CommonFlags & WaitFlag & YesFlag, [string], CliContext>({
  docs: { brief: 'Delete a backup', fullDescription: 'On a terminal it asks first.' },
  parameters: {
    flags: { ...commonFlags, ...waitFlag, ...yesFlag },
    aliases: { ...outputAlias, y: 'yes' },
    positional,
  },
  async func(flags, wanted) {
    const connection = await connectToProject(this, flags);
    const { client, project_id } = connection;
    const backups = client.backups.list({ project_id });
    const { id, name } = await findByName('backup', wanted, backups);
    await confirm(this, flags, `Delete the backup ${name}?`);
    const { operation } = await client.backups.delete({ project_id, backup_id: id });
    await finishOperation(this, connection, { operation, title: `delete ${name}`, flags });
  },
});

export const backupRoutes = buildRouteMap({
  routes: { list, create, delete: remove, schedule: scheduleDisk, unschedule: unscheduleDisk },
  docs: { brief: 'Backups of disks' },
});
