import type { Schemas } from '@gantry/sdk';
import { buildCommand, buildRouteMap } from '@stricli/core';
import type { CliContext } from '../cli-context.ts';
import { connectToProject } from '../config/connect.ts';
import { printList } from '../terminal/print.ts';
import { backupNames, diskNames, locationNames, snapshotNames } from './complete-names.ts';
import { confirm, type YesFlag, yesFlag } from './confirm.ts';
import { attachDisk, detachDisk } from './disk-attachment.ts';
import { findByName } from './find-by-name.ts';
import { finishOperation, type WaitFlag, waitFlag } from './finish-operation.ts';
import {
  argument,
  type CommonFlags,
  commonFlags,
  optionalText,
  outputAlias,
  requiredText,
} from './flags.ts';

type Disk = Schemas['Disk'];

const list = buildCommand<CommonFlags, [], CliContext>({
  docs: { brief: 'List disks, also those of the operating systems' },
  parameters: { flags: commonFlags, aliases: outputAlias },
  async func(flags) {
    const { client, project_id } = await connectToProject(this, flags);
    const { items } = await client.disks.list({ project_id });
    printList(this, items, {
      ...{ format: flags.output, nothing: 'There are no disks.' },
      columns: [
        { title: 'NAME', value: ({ name }) => name },
        { title: 'SIZE', value: ({ size }) => size },
        { title: 'STATE', value: ({ state }) => state },
        { title: 'TYPE', value: ({ type }) => type },
        { title: 'LOCATION', value: ({ location }) => location },
        { title: 'STORAGE', value: ({ storage }) => storage, isExtra: true },
        { title: 'ENCRYPTED', value: ({ encrypted }) => (encrypted ? 'yes' : 'no'), isExtra: true },
        { title: 'USE', value: ({ attachment_type }) => attachment_type, isExtra: true },
        { title: 'VMS', value: ({ vm_ids }) => vm_ids.join(' '), isExtra: true },
      ],
    });
  },
});

const TYPES = ['persistent-ssd', 'shared-volume'] as const;
const BLOCK_SIZES = ['512', '4096'] as const;
type CreateFlags = CommonFlags &
  WaitFlag & {
    size: string;
    location: string;
    type: (typeof TYPES)[number];
    blockSize: (typeof BLOCK_SIZES)[number];
    fromSnapshot?: string | undefined;
    fromBackup?: string | undefined;
  };

const create = buildCommand<CreateFlags, [string], CliContext>({
  docs: { brief: 'Create a disk' },
  parameters: {
    flags: {
      ...commonFlags,
      ...waitFlag,
      size: requiredText('Its size, such as 100GiB or 2TiB', 'size'),
      location: requiredText('The location of the VMs that will use it', 'location', locationNames),
      type: {
        ...({ kind: 'enum', values: TYPES, default: 'persistent-ssd' } as const),
        brief: 'Its type; several VMs can write to a shared volume',
      },
      blockSize: {
        ...({ kind: 'enum', values: BLOCK_SIZES, default: '512' } as const),
        brief: 'The size of its blocks in bytes',
      },
      fromSnapshot: optionalText('Begin with the content of a snapshot', 'snapshot', snapshotNames),
      fromBackup: optionalText('Begin with the content of a backup', 'backup', backupNames),
    },
    aliases: outputAlias,
    positional: { kind: 'tuple', parameters: [argument('The name of the new disk', 'name')] },
  },
  async func(flags, name) {
    const connection = await connectToProject(this, flags);
    const { client, project_id } = connection;
    const { size, location, type } = flags;
    const block_size = flags.blockSize === '4096' ? 4096 : 512;
    const source = flags.fromSnapshot;
    const snapshot_id =
      source && (await findByName('snapshot', source, client.snapshots.list({ project_id }))).id;
    const backup = flags.fromBackup;
    const backup_id =
      backup && (await findByName('backup', backup, client.backups.list({ project_id }))).id;
    const from = { ...(snapshot_id && { snapshot_id }), ...(backup_id && { backup_id }) };
    const body = { name, size, location, type, block_size, ...from } as const;
    const { operation } = await client.disks.create({ project_id, body });
    const title = `create ${name}`;
    await finishOperation<Disk>(this, connection, { operation, title, flags, fields: diskFields });
  },
});

function diskFields({ id, name, size, state, type, storage, encrypted, location }: Disk) {
  return [
    ['Name', name],
    ['Id', id],
    ['Size', size],
    ['State', state],
    ['Type', type],
    ['Storage', storage],
    ['Encrypted', encrypted ? 'yes' : 'no'],
    ['Location', location],
  ] as const;
}

const remove = buildCommand<CommonFlags & WaitFlag & YesFlag, [string], CliContext>({
  docs: {
    brief: 'Delete a disk and its content',
    fullDescription: 'A disk that is attached is refused. On a terminal it asks first.',
  },
  parameters: {
    flags: { ...commonFlags, ...waitFlag, ...yesFlag },
    aliases: { ...outputAlias, y: 'yes' },
    positional: { kind: 'tuple', parameters: [argument('The name or the id', 'disk', diskNames)] },
  },
  async func(flags, wanted) {
    const connection = await connectToProject(this, flags);
    const { client, project_id } = connection;
    const { id, name } = await findByName('disk', wanted, client.disks.list({ project_id }));
    await confirm(this, flags, `Delete the disk ${name} and its content?`);
    const { operation } = await client.disks.delete({ project_id, disk_id: id });
    await finishOperation(this, connection, { operation, title: `delete ${name}`, flags });
  },
});

export const diskRoutes = buildRouteMap({
  routes: { list, create, attach: attachDisk, detach: detachDisk, delete: remove },
  docs: { brief: 'Disks' },
});
