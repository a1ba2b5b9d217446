import type { Client, Schemas } from '@gantry/sdk';
import { buildCommand, buildRouteMap } from '@stricli/core';
import type { CliContext } from '../../../cli-context.ts';
import { connect } from '../../../config/connect.ts';
import { printList, printOne } from '../../../terminal/print.ts';
import { storageClusterNames } from '../../complete-names.ts';
import { confirm, type YesFlag, yesFlag } from '../../confirm.ts';
import { findByName } from '../../find-by-name.ts';
import { argument, type CommonFlags, commonFlags, outputAlias, requiredText } from '../../flags.ts';

type StorageCluster = Schemas['StorageCluster'];

export async function findStorageCluster(client: Client, wanted: string): Promise<StorageCluster> {
  const clusters = client.adminStorageClusters.list({ limit: 1000 });
  return await findByName('storage cluster', wanted, clusters);
}

const positional = {
  kind: 'tuple',
  parameters: [
    argument('The name or the id of the storage cluster', 'cluster', storageClusterNames),
  ],
} as const;

const list = buildCommand<CommonFlags, [], CliContext>({
  docs: { brief: 'List the storage clusters' },
  parameters: { flags: commonFlags, aliases: outputAlias },
  async func(flags) {
    const { client } = await connect(this, flags);
    const clusters: StorageCluster[] = [];
    for await (const each of client.adminStorageClusters.list({ limit: 1000 })) clusters.push(each);
    printList(this, clusters, {
      ...{ format: flags.output, nothing: 'There are no storage clusters.' },
      columns: [
        { title: 'NAME', value: ({ name }) => name },
        { title: 'MONITORS', value: ({ monitors }) => monitors.join(' ') },
        { title: 'USER', value: ({ user_name }) => user_name },
        { title: 'FSID', value: ({ fsid }) => fsid },
        { title: 'PROBLEM', value: ({ problem }) => problem, style: () => 'red' },
        { title: 'ID', value: ({ id }) => id, isExtra: true },
      ],
    });
  },
});

const show = buildCommand<CommonFlags, [string], CliContext>({
  docs: { brief: 'Show a storage cluster' },
  parameters: { flags: commonFlags, aliases: outputAlias, positional },
  async func(flags, wanted) {
    const { client } = await connect(this, flags);
    const { id } = await findStorageCluster(client, wanted);
    const cluster = await client.adminStorageClusters.get({ storage_cluster_id: id });
    printOne(this, cluster, { format: flags.output, fields: fields(cluster) });
  },
});

function fields({ id, name, monitors, user_name, fsid, problem, created_at }: StorageCluster) {
  return [
    ['Name', name],
    ['Id', id],
    ['Monitors', monitors.join(' ')],
    ['User', user_name],
    ['Fsid', fsid],
    ['Problem', problem],
    ['Created', created_at],
  ] as const;
}

type CreateFlags = CommonFlags & { monitor: readonly string[]; user: string };

const create = buildCommand<CreateFlags, [string], CliContext>({
  docs: {
    brief: 'Connect a storage cluster',
    fullDescription:
      'Every scheduler needs the key of the user as the file NAME.key in GANTRY_STORAGE_KEYS_DIRECTORY. ' +
      'The fsid is empty until a scheduler has reached the cluster.',
    customUsage: ['main --monitor 10.0.0.1:3300 --monitor 10.0.0.2:3300 --user gantry'],
  },
  parameters: {
    flags: {
      ...commonFlags,
      monitor: {
        ...({
          kind: 'parsed',
          parse: String,
          variadic: true,
          placeholder: 'address:port',
        } as const),
        brief: 'A monitor of the cluster; may be repeated',
      },
      user: requiredText('The name of the key of the schedulers, without "client."', 'name'),
    },
    aliases: outputAlias,
    positional: {
      kind: 'tuple',
      parameters: [
        argument("The name of the new cluster, which is that of the key's file", 'name'),
      ],
    },
  },
  async func({ monitor, user, ...flags }, name) {
    const { client } = await connect(this, flags);
    const body = { name, monitors: [...monitor], user_name: user };
    const cluster = await client.adminStorageClusters.create({ body });
    printOne(this, cluster, { format: flags.output, fields: fields(cluster) });
  },
});

const remove = buildCommand<CommonFlags & YesFlag, [string], CliContext>({
  docs: {
    brief: 'Disconnect a storage cluster that has no pools',
    fullDescription: 'Nothing changes in the cluster itself. On a terminal it asks first.',
  },
  parameters: {
    flags: { ...commonFlags, ...yesFlag },
    aliases: { ...outputAlias, y: 'yes' },
    positional,
  },
  async func(flags, wanted) {
    const { client } = await connect(this, flags);
    const { id, name } = await findStorageCluster(client, wanted);
    await confirm(this, flags, `Disconnect the storage cluster ${name}?`);
    const cluster = await client.adminStorageClusters.delete({ storage_cluster_id: id });
    printOne(this, cluster, { format: flags.output, fields: fields(cluster) });
  },
});

export const storageClusterRoutes = buildRouteMap({
  routes: { list, show, create, delete: remove },
  docs: { brief: 'Storage clusters' },
});
