/** Where a domain finds a disk on its host. */
export type DiskSource =
  | { type: 'file'; path: string; format: 'raw' | 'qcow2' }
  | { type: 'block'; path: string }
  /** Shared by several domains through virtiofs. */
  | { type: 'directory'; path: string };
