export type FileSource = {
  type: 'file';
  path: string;
  format: 'raw' | 'qcow2';
  /** The image below a qcow2 disk. An image has none below it. */
  backing: { path: string; format: 'raw' | 'qcow2' } | null;
};

/** Where a domain finds a disk on its host. */
export type DiskSource =
  | FileSource
  | { type: 'block'; path: string }
  /** Shared by several domains through virtiofs. */
  | { type: 'directory'; path: string };
