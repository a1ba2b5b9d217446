export type FileSource = {
  type: 'file';
  path: string;
  format: 'raw' | 'qcow2';
  /** The image below a qcow2 disk. An image has none below it. */
  backing: { path: string; format: 'raw' | 'qcow2' } | null;
};

/** A volume of a Ceph cluster. QEMU opens it with the key in libvirt's secret. */
export type RbdSource = {
  type: 'rbd';
  /** Addresses of monitors with their ports. Never empty. */
  monitors: readonly string[];
  pool: string;
  image: string;
  /** The name of the key, without "client.". */
  user: string;
  secretUuid: string;
  /** The secret with the passphrase; null: the volume is not encrypted. */
  passphraseUuid: string | null;
  /** Ceph's settings for QEMU, with the time limits. */
  confFile: string;
};

/** Where a domain finds a disk on its host. */
export type DiskSource =
  | FileSource
  | { type: 'block'; path: string }
  | RbdSource
  /** Shared by several domains through virtiofs. */
  | { type: 'directory'; path: string };
