/** What several parts of a spec have in common. */
export type SpecDiskRow = {
  id: string;
  type: 'persistent-ssd' | 'shared-volume';
  size_gib: number;
  block_size: number;
  serial_number: string;
  name: string;
};

/** A volume of a storage cluster, and the key with which the host opens it. */
export type SpecVolumeRow = {
  monitors: string[];
  pool: string;
  /** The file system of a shared volume; empty: the volume is a block device. */
  file_system: string;
  /** The id of the cluster's row. */
  cluster_id: string;
  user: string;
  /** Sealed with the key that only schedulers have. */
  sealed_key: string;
  encrypted: boolean;
  /** Sealed in the same way; null if the volume is not encrypted. */
  sealed_passphrase: string | null;
};
