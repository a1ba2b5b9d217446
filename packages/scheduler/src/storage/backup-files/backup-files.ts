/**
 * Where backups are stored: a directory or a bucket. Both hold the same two files for each backup, so that a backup can be
 * moved from one to the other, and restored without the database:
 *
 *   <disk id>/<backup id>….diff   the content, or the changes since the parent, in the format of `rbd export-diff`
 *   <disk id>/<backup id>….json   the manifest: what the file is, its parent and its checksum
 *
 * The manifest is written last and removed first, so a backup with a manifest is complete. Each attempt writes files of its
 * own, so a scheduler that lost its lease and goes on writing does not change the file of its successor.
 */
export type BackupFiles = {
  /**
   * Returns the path of a new file, to which a backup is exported. Removes what earlier attempts left. `requireLease` throws
   * unless this process still holds the lease under which it found the backup unfinished.
   */
  prepare(key: BackupKey, requireLease: () => Promise<void>): Promise<string>;
  /** Stores the exported file, verifies what is stored, and writes its manifest beside it. */
  verify(file: string, manifest: Manifest): Promise<void>;
  /** Makes the attempt count. The caller has the lease in a transaction, so this does not use the network. */
  publish(key: BackupKey, file: string): Promise<void>;
  /** Removes what an attempt wrote and did not publish. */
  discard(file: string): Promise<void>;
  /** Removes everything of a backup. To repeat it is no error. */
  remove(key: BackupKey): Promise<void>;
  /** Calls `use` with the paths of the complete files, in the order of the backups. They may be gone afterwards. */
  withFiles<T>(backups: readonly StoredBackup[], use: (files: string[]) => Promise<T>): Promise<T>;
};

export type BackupKey = { id: string; disk_id: string };
export type StoredBackup = BackupKey & { sha256: string };

export type Manifest = {
  version: 1;
  backup_id: string;
  name: string;
  project_id: string;
  disk_id: string;
  disk_type: string;
  size_gib: number;
  block_size: number;
  /** The backup since which the file has the changes; null: it has the whole content. */
  parent_id: string | null;
  bytes: number;
  sha256: string;
  requested_at: string;
};

export function renderManifest(manifest: Manifest): string {
  return `${JSON.stringify(manifest, null, 2)}\n`;
}
