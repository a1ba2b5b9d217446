import type { StorageCluster } from '@gantry/ceph/storage-cluster';
import { StorageError } from '@gantry/ceph/storage-error';

/** Returns the connection to a storage cluster. Throws a StorageError if there is none. */
export type ClusterOf = (clusterId: string) => Promise<StorageCluster>;

/** For a scheduler that has no key of any storage cluster. */
export const noClusterOf: ClusterOf = async () => {
  throw new StorageError('unreachable', 'this scheduler has no key of the storage cluster');
};
