import { StorageError } from '@gantry/ceph/storage-error';
import type { OpenCluster } from './storage-clusters.ts';

/** For a scheduler that has the key of no cluster. */
export const noClusters: OpenCluster = async ({ name }) => {
  throw new StorageError(
    'denied',
    `this scheduler has no key of ${name}: set GANTRY_STORAGE_KEYS_DIRECTORY`,
  );
};
