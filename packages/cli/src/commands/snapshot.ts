import type { Schemas } from '@gantry/sdk';
import { buildCommand, buildRouteMap } from '@stricli/core';
import type { CliContext } from '../cli-context.ts';
import { connectToProject } from '../config/connect.ts';
import { printList } from '../terminal/print.ts';
import { diskNames, snapshotNames } from './complete-names.ts';
import { confirm, type YesFlag, yesFlag } from './confirm.ts';
import { findByName } from './find-by-name.ts';
import { finishOperation, type WaitFlag, waitFlag } from './finish-operation.ts';
import { argument, type CommonFlags, commonFlags, outputAlias } from './flags.ts';

type Snapshot = Schemas['Snapshot'];

const list = buildCommand<CommonFlags, [], CliContext>({
  docs: { brief: 'List snapshots of disks' },
  parameters: { flags: commonFlags, aliases: outputAlias },
  async func(flags) {
    const { client, project_id } = await connectToProject(this, flags);
    const { items } = await client.snapshots.list({ project_id });
    printList(this, items, {
      ...{ format: flags.output, nothing: 'There are no snapshots.' },
      columns: [
        { title: 'NAME', value: ({ name }) => name },
        { title: 'SIZE', value: ({ size }) => size },
        { title: 'STATE', value: ({ state }) => state },
        { title: 'CREATED', value: ({ created_at }) => created_at },
        { title: 'LOCATION', value: ({ location }) => location },
        { title: 'DISK', value: ({ disk_id }) => disk_id, isExtra: true },
        { title: 'PROBLEM', value: ({ problem }) => problem, isExtra: true },
      ],
    });
  },
});

type FreezeFlag = { freeze: boolean };
const freezeFlag = {
  freeze: {
    ...({ kind: 'boolean', default: false, withNegated: false } as const),
    brief: 'Freeze the file systems of the guest meanwhile; it needs a guest agent',
  },
} as const;

const create = buildCommand<CommonFlags & WaitFlag & FreezeFlag, [string, string], CliContext>({
  docs: {
    brief: 'Make a snapshot of a disk',
    fullDescription:
      'The VM of the disk may run; then the snapshot has what its guest has written until then.',
  },
  parameters: {
    flags: { ...commonFlags, ...waitFlag, ...freezeFlag },
    aliases: outputAlias,
    positional: {
      kind: 'tuple',
      parameters: [
        argument('The name or the id of the disk', 'disk', diskNames),
        argument('The name of the new snapshot', 'name'),
      ],
    },
  },
  async func(flags, disk, name) {
    const connection = await connectToProject(this, flags);
    const { client, project_id } = connection;
    const { id: disk_id } = await findByName('disk', disk, client.disks.list({ project_id }));
    const body = { name, disk_id, ...(flags.freeze ? { freeze: true } : {}) };
    const { operation } = await client.snapshots.create({ project_id, body });
    const title = `snapshot ${disk}`;
    await finishOperation<Snapshot>(this, connection, { operation, title, flags, fields });
  },
});

function fields({ id, name, size, state, location, disk_id }: Snapshot) {
  return [
    ['Name', name],
    ['Id', id],
    ['Size', size],
    ['State', state],
    ['Location', location],
    ['Disk', disk_id],
  ] as const;
}

const positional = {
  kind: 'tuple',
  parameters: [argument('The name or the id', 'snapshot', snapshotNames)],
} as const;

const restore = buildCommand<CommonFlags & WaitFlag & YesFlag, [string], CliContext>({
  docs: {
    brief: 'Set a disk back to a snapshot',
    fullDescription:
      'What was written to the disk since then is lost. Its VM must be stopped. On a terminal it asks first.',
  },
  parameters: {
    flags: { ...commonFlags, ...waitFlag, ...yesFlag },
    aliases: { ...outputAlias, y: 'yes' },
    positional,
  },
  async func(flags, wanted) {
    const connection = await connectToProject(this, flags);
    const { client, project_id } = connection;
    const snapshots = client.snapshots.list({ project_id });
    const { id, name, disk_id } = await findByName('snapshot', wanted, snapshots);
    await confirm(this, flags, `Set the disk ${disk_id} back to ${name}? Later data is lost.`);
    const { operation } = await client.snapshots.restore({ project_id, snapshot_id: id });
    await finishOperation(this, connection, { operation, title: `restore ${name}`, flags });
  },
});

const remove = buildCommand<CommonFlags & WaitFlag & YesFlag, [string], CliContext>({
  docs: { brief: 'Delete a snapshot', fullDescription: 'On a terminal it asks first.' },
  parameters: {
    flags: { ...commonFlags, ...waitFlag, ...yesFlag },
    aliases: { ...outputAlias, y: 'yes' },
    positional,
  },
  async func(flags, wanted) {
    const connection = await connectToProject(this, flags);
    const { client, project_id } = connection;
    const snapshots = client.snapshots.list({ project_id });
    const { id, name } = await findByName('snapshot', wanted, snapshots);
    await confirm(this, flags, `Delete the snapshot ${name}?`);
    const { operation } = await client.snapshots.delete({ project_id, snapshot_id: id });
    await finishOperation(this, connection, { operation, title: `delete ${name}`, flags });
  },
});

export const snapshotRoutes = buildRouteMap({
  routes: { list, create, restore, delete: remove },
  docs: { brief: 'Snapshots of disks' },
});
