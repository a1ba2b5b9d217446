import type { StorageCluster, VolumeLabels } from '@gantry/ceph/storage-cluster';
import { namespaceOf, type ShareName } from '@gantry/ceph/storage-shares';
import type { DiskPlace } from '@gantry/db/queries/storage/volume-work';
import { labelsOf } from './lease-writes.ts';

/** A volume of a disk, whether it is a block device or the directory of a shared volume. */
export type StoredVolume = {
  sizeBytes: number;
  /** Null: it is not ours. */
  labels: VolumeLabels | null;
  /** The clients that have it open, as addresses with a port and a nonce. */
  watchers: string[];
  /** The client that may write now; null if none has claimed that, and for shared volumes. */
  locker: string | null;
};

/** What is done in the same way with all volumes of a pool. They are called like their disks. */
export type VolumeStore = {
  read(name: string): Promise<StoredVolume | null>;
  list(): Promise<string[]>;
  grow(volume: { name: string; sizeBytes: number }): Promise<void>;
  remove(name: string): Promise<void>;
  /** Returns null if there is no such volume. */
  createKey(key: { entity: string; name: string }): Promise<string | null>;
};

export type StorePlace = Pick<DiskPlace, 'cluster_id' | 'pool' | 'file_system'>;

export function storeOf(cluster: StorageCluster, place: StorePlace): VolumeStore {
  return place.file_system === '' ? blockStore(cluster, place) : shareStore(cluster, place);
}

export function shareNameOf(
  { cluster_id, file_system: fileSystem }: Pick<StorePlace, 'cluster_id' | 'file_system'>,
  name: string,
): ShareName {
  return { fileSystem, installation: cluster_id, name };
}

/** The cluster has no id for a share. Its namespace is what belongs to it alone. */
export function shareIdOf(name: string): string {
  return namespaceOf({ name });
}

function blockStore(cluster: StorageCluster, { pool }: StorePlace): VolumeStore {
  return {
    read: (name) => cluster.readVolume({ pool, name }),
    list: () => cluster.listVolumes(pool),
    grow: ({ name, sizeBytes }) => cluster.growVolume({ pool, name, sizeBytes }),
    remove: (name) => cluster.removeVolume({ pool, name }),
    createKey: async ({ entity, name }) => {
      const volume = await cluster.readVolume({ pool, name });
      return volume && (await cluster.createKey({ entity, pool, volume }));
    },
  };
}

function shareStore(cluster: StorageCluster, place: StorePlace): VolumeStore {
  const at = (name: string) => shareNameOf(place, name);
  return {
    read: async (name) => {
      const share = await cluster.readShare(at(name));
      // Its path has the installation in it.
      return share && { ...share, labels: labelsOf(place, name), locker: null };
    },
    list: () => cluster.listShares(at('')),
    grow: ({ name, sizeBytes }) => cluster.growShare({ ...at(name), sizeBytes }),
    remove: (name) => cluster.removeShare(at(name)),
    createKey: async ({ entity, name }) => {
      const share = await cluster.readShare(at(name));
      return share && (await cluster.createShareKey({ entity, share }));
    },
  };
}
