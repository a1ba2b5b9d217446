import type { Client, Schemas } from '@gantry/sdk';
import { buildCommand, buildRouteMap, numberParser } from '@stricli/core';
import type { CliContext } from '../../../cli-context.ts';
import { UsageError } from '../../../cli-errors.ts';
import { connect } from '../../../config/connect.ts';
import { printList, printOne } from '../../../terminal/print.ts';
import { locationNames, storageClusterNames, storagePoolNames } from '../../complete-names.ts';
import { confirm, type YesFlag, yesFlag } from '../../confirm.ts';
import { findByName } from '../../find-by-name.ts';
import {
  argument,
  type CommonFlags,
  commonFlags,
  optionalText,
  outputAlias,
  requiredText,
} from '../../flags.ts';
import { findStorageCluster } from './clusters.ts';

type StoragePool = Schemas['StoragePool'];

async function findStoragePool(client: Client, wanted: string): Promise<StoragePool> {
  return await findByName('storage pool', wanted, client.adminStoragePools.list({ limit: 1000 }));
}

const positional = {
  kind: 'tuple',
  parameters: [argument('The name or the id of the storage pool', 'pool', storagePoolNames)],
} as const;

type ListFlags = CommonFlags & { cluster: string | undefined; location: string | undefined };

const list = buildCommand<ListFlags, [], CliContext>({
  docs: { brief: 'List the storage pools with their space' },
  parameters: {
    flags: {
      ...commonFlags,
      cluster: optionalText('Only pools of this cluster', 'cluster', storageClusterNames),
      location: optionalText('Only pools of this location', 'location', locationNames),
    },
    aliases: outputAlias,
  },
  async func({ cluster, location, ...flags }) {
    const { client } = await connect(this, flags);
    const of = cluster === undefined ? undefined : await findStorageCluster(client, cluster);
    const filters = { ...(of && { storage_cluster_id: of.id }), ...(location && { location }) };
    const pools: StoragePool[] = [];
    for await (const each of client.adminStoragePools.list({ ...filters, limit: 1000 }))
      pools.push(each);
    printList(this, pools, {
      format: flags.output,
      nothing:
        Object.keys(filters).length === 0 ? 'There are no storage pools.' : 'No pool matches.',
      columns: [
        { title: 'NAME', value: ({ name }) => name },
        { title: 'LOCATION', value: ({ location: at }) => at },
        { title: 'DISK TYPE', value: ({ disk_type }) => disk_type },
        { title: 'NEW DISKS', value: ({ active }) => (active ? 'yes' : 'no') },
        { title: 'ENCRYPTED', value: ({ encrypted }) => (encrypted ? 'yes' : 'no') },
        { title: 'SIZE GIB', value: ({ size_gib }) => String(size_gib) },
        { title: 'USED GIB', value: ({ used_gib }) => String(used_gib) },
        { title: 'ALLOCATED GIB', value: ({ allocated_gib }) => String(allocated_gib) },
        { title: 'PROBLEM', value: ({ problem }) => problem, style: () => 'red' },
        { title: 'OVERCOMMIT', value: overcommit, isExtra: true },
        { title: 'ID', value: ({ id }) => id, isExtra: true },
      ],
    });
  },
});

const overcommit = ({ overcommit_percent }: StoragePool) => `${overcommit_percent} %`;

function fields(pool: StoragePool) {
  return [
    ['Name', pool.name],
    ['Id', pool.id],
    ['Cluster', pool.storage_cluster_id],
    ['Location', pool.location],
    ['Disk type', pool.disk_type],
    ['File system', pool.file_system],
    ['New disks', pool.active ? 'yes' : 'no'],
    ['Encrypted', pool.encrypted ? 'yes' : 'no'],
    ['Overcommit', overcommit(pool)],
    ['Size', `${pool.size_gib} GiB`],
    ['Used', `${pool.used_gib} GiB`],
    ['Allocated', `${pool.allocated_gib} GiB`],
    ['Observed', pool.observed_at],
    ['Problem', pool.problem],
  ] as const;
}

const show = buildCommand<CommonFlags, [string], CliContext>({
  docs: { brief: 'Show a storage pool' },
  parameters: { flags: commonFlags, aliases: outputAlias, positional },
  async func(flags, wanted) {
    const { client } = await connect(this, flags);
    const { id } = await findStoragePool(client, wanted);
    const pool = await client.adminStoragePools.get({ storage_pool_id: id });
    printOne(this, pool, { format: flags.output, fields: fields(pool) });
  },
});

const changeFlags = {
  active: {
    ...({ kind: 'boolean', optional: true } as const),
    brief: 'Whether new disks may be created in it',
  },
  overcommit: {
    ...({ kind: 'parsed', parse: numberParser, optional: true, placeholder: 'percent' } as const),
    brief: 'How large all disks together may be, as a share of the pool in percent',
  },
} as const;
type ChangeFlags = { active: boolean | undefined; overcommit: number | undefined };

function changesOf({ active, overcommit: percent }: ChangeFlags) {
  return {
    ...(active !== undefined && { active }),
    ...(percent !== undefined && { overcommit_percent: percent }),
  };
}

type CreateFlags = CommonFlags &
  ChangeFlags & {
    cluster: string;
    location: string;
    encrypted: boolean | undefined;
    'file-system': string | undefined;
  };

const create = buildCommand<CreateFlags, [string], CliContext>({
  docs: {
    brief: 'Store the new disks of a location in a pool of a storage cluster',
    customUsage: [
      'volumes --cluster main --location eu-north-a --overcommit 200',
      'encrypted-volumes --cluster main --location eu-north-a --encrypted',
      'shares --cluster main --location eu-north-a --file-system shared',
    ],
  },
  parameters: {
    flags: {
      ...commonFlags,
      ...changeFlags,
      cluster: requiredText('The cluster that has the pool', 'cluster', storageClusterNames),
      location: requiredText('The location whose disks it stores', 'location', locationNames),
      encrypted: {
        ...({ kind: 'boolean', optional: true } as const),
        brief: 'Whether its disks are encrypted, which cannot be changed later',
      },
      'file-system': optionalText(
        'Store shared volumes instead of disks: the CephFS file system that has the pool',
        'name',
      ),
    },
    aliases: outputAlias,
    positional: {
      kind: 'tuple',
      parameters: [argument('The name of the pool in the cluster', 'name')],
    },
  },
  async func(
    { cluster, location, active, encrypted, overcommit: percent, 'file-system': fs, ...flags },
    name,
  ) {
    const { client } = await connect(this, flags);
    const { id: storage_cluster_id } = await findStorageCluster(client, cluster);
    const body = {
      ...{ storage_cluster_id, name, location },
      ...(fs === undefined
        ? { disk_type: 'persistent-ssd' as const }
        : { disk_type: 'shared-volume' as const, file_system: fs }),
      ...changesOf({ active, overcommit: percent }),
      ...(encrypted !== undefined && { encrypted }),
    };
    const pool = await client.adminStoragePools.create({ body });
    printOne(this, pool, { format: flags.output, fields: fields(pool) });
  },
});

const update = buildCommand<CommonFlags & ChangeFlags, [string], CliContext>({
  docs: {
    brief: 'Change whether a storage pool takes new disks, and how many',
    fullDescription: 'Disks that exist stay in the pool.',
    customUsage: ['volumes --overcommit 300', 'volumes --no-active'],
  },
  parameters: { flags: { ...commonFlags, ...changeFlags }, aliases: outputAlias, positional },
  async func({ active, overcommit: percent, ...flags }, wanted) {
    const body = changesOf({ active, overcommit: percent });
    if (Object.keys(body).length === 0)
      throw new UsageError('nothing to change: add --active, --no-active or --overcommit');
    const { client } = await connect(this, flags);
    const { id } = await findStoragePool(client, wanted);
    const pool = await client.adminStoragePools.change({ storage_pool_id: id, body });
    printOne(this, pool, { format: flags.output, fields: fields(pool) });
  },
});

const remove = buildCommand<CommonFlags & YesFlag, [string], CliContext>({
  docs: {
    brief: 'Disconnect a storage pool that stores nothing',
    fullDescription: 'Nothing changes in the cluster itself. On a terminal it asks first.',
  },
  parameters: {
    flags: { ...commonFlags, ...yesFlag },
    aliases: { ...outputAlias, y: 'yes' },
    positional,
  },
  async func(flags, wanted) {
    const { client } = await connect(this, flags);
    const { id, name } = await findStoragePool(client, wanted);
    await confirm(this, flags, `Disconnect the storage pool ${name}?`);
    const pool = await client.adminStoragePools.delete({ storage_pool_id: id });
    printOne(this, pool, { format: flags.output, fields: fields(pool) });
  },
});

export const storagePoolRoutes = buildRouteMap({
  routes: { list, show, create, update, delete: remove },
  docs: { brief: 'Pools of storage clusters' },
});
