import type { StorageShares } from './storage-shares.ts';

/**
 * What the control plane does in a storage cluster. One implementation drives Ceph, the other is simulated; both pass
 * the same contract tests. Hosts never call it: they get the key of one volume at a time.
 *
 * Every change is idempotent: to repeat one that succeeded, or that may have succeeded, is no error. Every call ends
 * within a time limit and then throws a StorageError with the code `unreachable`.
 */
export type StorageCluster = StorageShares & {
  /** Returns the cluster's own id, which never changes. */
  readFsid(): Promise<string>;
  /** Returns the pool's space; null if the cluster does not report it. Throws `not_found` if there is no such pool. */
  readPool(pool: string): Promise<PoolSpace | null>;
  /** Whether the cluster accepts no data for the pool any more. Clients that write to it wait until there is space. */
  isPoolFull(pool: string): Promise<boolean>;

  /**
   * Creates a volume, empty or as a clone of an image, which copies nothing. A volume of this name with the same labels
   * is left as it is and returned; one with other labels is not ours, and throws `exists`. An encrypted volume is a copy
   * of its image, and not a clone. One that exists with another passphrase throws `denied`.
   */
  createVolume(volume: NewVolume): Promise<Volume>;
  /** Returns null if there is no such volume. */
  readVolume(at: VolumeName): Promise<Volume | null>;
  /**
   * Returns the names of all volumes of the pool, in no order, also of volumes that are not ours. Volumes whose creation
   * has not finished are left out; `removeVolume` removes them too.
   */
  listVolumes(pool: string): Promise<string[]>;
  /** Makes a volume larger. Throws `failed` if that would make it smaller. */
  growVolume(volume: VolumeName & { sizeBytes: number }): Promise<void>;
  /**
   * Removes a volume with its snapshots, also one that clones still need: it stays in the cluster's trash until
   * `emptyTrash` can remove it. Throws `busy` while a client has it open, and `denied` if it has no labels.
   */
  removeVolume(at: VolumeName): Promise<void>;
  /** Removes what `removeVolume` put into the trash and no clone needs. Leaves alone what others put there. */
  emptyTrash(pool: string): Promise<void>;

  createSnapshot(at: VolumeName & { snapshot: string }): Promise<void>;
  removeSnapshot(at: VolumeName & { snapshot: string }): Promise<void>;
  /**
   * Sets the content of a volume back to that of a snapshot and keeps the size of the volume. Throws `busy` while a
   * client has the volume open. After an interruption the volume `isRestoring` until the call is repeated.
   */
  restoreSnapshot(at: VolumeName & { snapshot: string }): Promise<void>;
  /**
   * Copies a snapshot to a new volume that depends on nothing. An interrupted copy leaves no volume of this name. The copy
   * of an encrypted volume is encrypted with the same passphrase; another one throws `denied`, and none `failed`.
   */
  copySnapshot(copy: { from: VolumeName & { snapshot: string }; to: NewVolume }): Promise<Volume>;

  /**
   * Writes the content of a snapshot to a file of this machine, or what has changed since an earlier snapshot of the
   * volume. The file is replaced, and is on disk when the call returns. Throws `not_found` if a snapshot is missing, and
   * `failed` if the file cannot be written.
   */
  exportSnapshot(
    at: VolumeName & { snapshot: string; since: string | null; file: string },
  ): Promise<ExportedFile>;
  /**
   * Creates a volume from files of `exportSnapshot`: one with the whole content, and then those with the changes since the
   * file before. All are compared with their checksums before anything is created; one that differs throws `failed`. An
   * interrupted import leaves no volume of this name. A volume of this name is handled as by `createVolume`. The files of
   * an encrypted volume are encrypted, and the new volume needs the same passphrase; another one throws `denied`.
   */
  importBackup(volume: NewVolume & { parts: readonly BackupPart[] }): Promise<Volume>;

  /**
   * Creates a volume from a file and a snapshot of it called `IMAGE_SNAPSHOT`, so that it can be the parent of clones.
   * A qcow2 or VMDK file must not refer to another file. An interrupted import leaves no volume of this name. A volume of this name is
   * handled as by `createVolume`.
   */
  importImage(image: NewImage): Promise<Volume>;

  /**
   * Creates a key that opens one volume and reads the image that it is a clone of, and returns it in base64. With it a
   * client can neither open another volume nor fence a client. If the key exists, it is returned; a key of this name
   * for another volume throws `exists`.
   */
  createKey(key: { entity: string; pool: string; volume: Volume }): Promise<string>;
  /** Clients that are open stay open: to remove a key is no fence. */
  removeKey(entity: string): Promise<void>;
  /** Returns the names of all keys whose name begins with the prefix, without "client.". */
  listKeys(prefix: string): Promise<string[]>;

  /**
   * Refuses every later request of the clients, for a year. An address without a port means every client there.
   * Returns when the cluster has recorded it; then no client of these addresses can write any more.
   */
  fence(addresses: readonly string[]): Promise<void>;
  /**
   * Lifts a fence. New clients can connect. One that had a volume open stays useless; one that has a share mounted can use
   * it again, without what it could not write before.
   */
  unfence(addresses: readonly string[]): Promise<void>;
  /** Returns the addresses that are fenced now, as `fence` got them. */
  listFences(): Promise<string[]>;
  /**
   * Ends the lock that a fenced client has left on a volume, so that the next client can write at once. Throws `busy` if
   * the client is not fenced.
   */
  breakLock(at: VolumeName): Promise<void>;

  close(): Promise<void>;
};

/** The snapshot of an image from which volumes are cloned. */
export const IMAGE_SNAPSHOT = 'image';

export type PoolSpace = { sizeBytes: number; usedBytes: number };

export type VolumeName = { pool: string; name: string };

export type NewVolume = VolumeName & {
  sizeBytes: number;
  /** Stored with the volume, for people and for the sweep. */
  labels: VolumeLabels;
  /** The name of an image in the same pool. Absent: the volume is empty. */
  image?: string;
  /** Absent: the volume is not encrypted. */
  encryption?: VolumeEncryption;
};

/** The volume has the format LUKS 1. Its clients decrypt it, so the cluster sees encrypted data only. */
export type VolumeEncryption = { passphrase: string };

export type ExportedFile = { bytes: number; sha256: string };

/** A file of `exportSnapshot`, with the checksum that the call returned and the snapshot that it was made of. */
export type BackupPart = { file: string; sha256: string; snapshot: string };

export type NewImage = VolumeName & {
  labels: VolumeLabels;
  file: string;
  format: ImageFileFormat;
  /** The disk in the file may have at most this size. */
  maxBytes?: number;
  /** The file is of a tenant, so the program that converts it gets no network. */
  isOfTenant?: boolean;
};

export type ImageFileFormat = 'raw' | 'qcow2' | 'vmdk';

/** Says to which installation of Gantry, and to which resource of it, a volume belongs. */
export type VolumeLabels = { installation: string; resource: string };

export type Volume = VolumeName & {
  /** The cluster's id of the volume, which is part of the names of its objects. */
  id: string;
  /** Without the header of an encrypted volume. */
  sizeBytes: number;
  encrypted: boolean;
  /** An attempt to set it back to a snapshot has begun and not ended, so it may have content of both. */
  isRestoring: boolean;
  /** Null if it has none: then it is not ours. */
  labels: VolumeLabels | null;
  /** The cluster's id of the image that it is a clone of; null if it is none. */
  parentId: string | null;
  snapshots: string[];
  /** The clients that have it open, as addresses with a port and a nonce. */
  watchers: string[];
  /** The client that may write now; null if none has claimed that. */
  locker: string | null;
};
