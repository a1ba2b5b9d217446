/**
 * Shared volumes of a storage cluster: directories of its file systems, which several clients mount at the same time. What
 * is said about the methods of `StorageCluster` is true for these too.
 */
export type StorageShares = {
  /**
   * Creates an empty share. Its content is in the pool, and clients cannot store more than its size. A share of this name
   * is left as it is and returned. Throws `not_found` if there is no such file system or the pool is none of its data
   * pools, and `exists` if the share is in another pool.
   */
  createShare(share: NewShare): Promise<Share>;
  /** Returns null if there is no such share. */
  readShare(at: ShareName): Promise<Share | null>;
  /** Returns the names of all shares of an installation, in no order. */
  listShares(of: Omit<ShareName, 'name'>): Promise<string[]>;
  /** Makes a share larger. Throws `failed` if that would make it smaller. */
  growShare(share: ShareName & { sizeBytes: number }): Promise<void>;
  /** Removes a share with its content. Throws `busy` while a client has it mounted. */
  removeShare(at: ShareName): Promise<void>;
  /**
   * Creates a key with which a client can mount one share, and returns it in base64. With it a client can neither see nor
   * change another share, nor change the size of this one. If the key exists, it is returned; a key of this name for
   * another share throws `exists`.
   */
  createShareKey(key: { entity: string; share: Share }): Promise<string>;
  /**
   * Returns when no client that was fenced before the call can change the names and attributes of files any more. `fence`
   * itself returns when none can change their content.
   */
  endFencedSessions(fileSystem: string): Promise<void>;
};

/** The installation of Gantry is part of the path, so shares of others are never seen. */
export type ShareName = { fileSystem: string; installation: string; name: string };

export type NewShare = ShareName & { pool: string; sizeBytes: number };

export type Share = NewShare & {
  /** The one of `sharePath`. */
  path: string;
  /** The clients that have it mounted, as addresses with a port and a nonce. */
  watchers: string[];
};

/** Returns the directory that clients mount. */
export function sharePath({ installation, name }: Omit<ShareName, 'fileSystem'>): string {
  return `/gantry/${installation}/${name}/data`;
}

/** Every share has a namespace of its own in its pool, so that keys can be limited to its content. */
export function namespaceOf({ name }: Pick<ShareName, 'name'>): string {
  return `gantry-${name}`;
}
