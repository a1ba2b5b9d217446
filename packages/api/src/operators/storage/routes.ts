import { listStorageClusters, listStoragePools } from '@gantry/db/queries/storage/admin-storage';
import { page, toIdListing } from '../../http/fields.ts';
import { route } from '../../http/route.ts';
import {
  changeStoragePool,
  createStorageCluster,
  createStoragePool,
  deleteStorageCluster,
  deleteStoragePool,
  requireStorageCluster,
  requireStoragePool,
} from './change.ts';
import {
  ChangeStoragePool,
  CreateStorageCluster,
  CreateStoragePool,
  StorageCluster,
  StorageClusterPage,
  StorageClusterParams,
  StorageClusterQuery,
  StoragePool,
  StoragePoolPage,
  StoragePoolParams,
  StoragePoolQuery,
} from './schema.ts';
import { storageClusterView, storagePoolView } from './view.ts';

const READ = { level: 'operator', role: 'read-only' } as const;
const CHANGE = { level: 'operator', role: 'admin' } as const;

const clusterRoutes = [
  route({
    id: 'admin-storage-clusters.list',
    method: 'get',
    path: '/admin/storage/clusters',
    summary: 'List storage clusters, oldest first',
    access: READ,
    query: StorageClusterQuery,
    reply: StorageClusterPage,
    handle: async ({ sql, query }) =>
      page(await listStorageClusters(sql, toIdListing(query)), query.limit, storageClusterView),
  }),
  route({
    id: 'admin-storage-clusters.get',
    method: 'get',
    path: '/admin/storage/clusters/{storage_cluster_id}',
    summary: 'Read a storage cluster',
    access: READ,
    params: StorageClusterParams,
    reply: StorageCluster,
    handle: async ({ sql, params }) =>
      storageClusterView(await requireStorageCluster(sql, params.storage_cluster_id)),
  }),
  route({
    id: 'admin-storage-clusters.create',
    method: 'post',
    path: '/admin/storage/clusters',
    summary: 'Connect a storage cluster',
    access: CHANGE,
    body: CreateStorageCluster,
    reply: StorageCluster,
    handle: async ({ sql, body, now }) =>
      storageClusterView(await createStorageCluster({ sql, body, now })),
  }),
  route({
    id: 'admin-storage-clusters.delete',
    method: 'delete',
    path: '/admin/storage/clusters/{storage_cluster_id}',
    summary: 'Disconnect a storage cluster that has no pools',
    access: CHANGE,
    params: StorageClusterParams,
    reply: StorageCluster,
    handle: async ({ sql, params }) =>
      storageClusterView(await deleteStorageCluster(sql, params.storage_cluster_id)),
  }),
];

const poolRoutes = [
  route({
    id: 'admin-storage-pools.list',
    method: 'get',
    path: '/admin/storage/pools',
    summary: 'List storage pools with their space, oldest first',
    access: READ,
    query: StoragePoolQuery,
    reply: StoragePoolPage,
    handle: async ({ sql, query }) => {
      const { location = null, storage_cluster_id: clusterId = null } = query;
      const filter = { ...toIdListing(query), clusterId, location };
      return page(await listStoragePools(sql, filter), query.limit, storagePoolView);
    },
  }),
  route({
    id: 'admin-storage-pools.get',
    method: 'get',
    path: '/admin/storage/pools/{storage_pool_id}',
    summary: 'Read a storage pool',
    access: READ,
    params: StoragePoolParams,
    reply: StoragePool,
    handle: async ({ sql, params }) =>
      storagePoolView(await requireStoragePool(sql, params.storage_pool_id)),
  }),
  route({
    id: 'admin-storage-pools.create',
    method: 'post',
    path: '/admin/storage/pools',
    summary: 'Store the new disks of a location in a pool of a storage cluster',
    access: CHANGE,
    body: CreateStoragePool,
    reply: StoragePool,
    handle: async ({ sql, body, now }) =>
      storagePoolView(await createStoragePool({ sql, body, now })),
  }),
  route({
    id: 'admin-storage-pools.change',
    method: 'patch',
    path: '/admin/storage/pools/{storage_pool_id}',
    summary: 'Change whether a storage pool takes new disks, and how many',
    access: CHANGE,
    params: StoragePoolParams,
    body: ChangeStoragePool,
    reply: StoragePool,
    handle: async ({ sql, params, body }) =>
      storagePoolView(await changeStoragePool({ sql, poolId: params.storage_pool_id, body })),
  }),
  route({
    id: 'admin-storage-pools.delete',
    method: 'delete',
    path: '/admin/storage/pools/{storage_pool_id}',
    summary: 'Disconnect a storage pool that stores nothing',
    access: CHANGE,
    params: StoragePoolParams,
    reply: StoragePool,
    handle: async ({ sql, params }) =>
      storagePoolView(await deleteStoragePool(sql, params.storage_pool_id)),
  }),
];

export const adminStorageRoutes = [...clusterRoutes, ...poolRoutes];
