import type { CephHelper } from './helper-process.ts';
import { renderShareRights } from './key-rights.ts';
import { StorageError } from './storage-error.ts';
import {
  type NewShare,
  namespaceOf,
  type Share,
  type ShareName,
  type StorageShares,
} from './storage-shares.ts';

export type CephShares = StorageShares & { close(): void };

/** What the helper knows of a share; the caller knows its name. */
type FoundShare = Omit<Share, keyof ShareName>;

/** `slowFiles` serves removals, which take as long as a share has files. */
export function makeShares(helpers: { files: CephHelper; slowFiles: CephHelper }): CephShares {
  const [files, slowFiles] = [namingRights(helpers.files), namingRights(helpers.slowFiles)];
  const nameOf = ({ fileSystem, installation, name }: ShareName) => ({
    ...{ fileSystem, installation, name },
  });
  const view = (at: ShareName, { pool, path, sizeBytes, watchers }: FoundShare): Share => ({
    ...nameOf(at),
    ...{ pool, path, sizeBytes, watchers },
  });
  return {
    createShare: async (share: NewShare) => {
      const { pool, sizeBytes } = share;
      const args = { ...nameOf(share), pool, sizeBytes, namespace: namespaceOf(share) };
      return view(share, await files.call<FoundShare>('createShare', args));
    },
    readShare: async (at) => {
      const found = await files.call<FoundShare | null>('readShare', nameOf(at));
      return found && view(at, found);
    },
    listShares: ({ fileSystem, installation }) =>
      files.call('listShares', { fileSystem, installation }),
    growShare: ({ sizeBytes, ...at }) => files.call('growShare', { ...nameOf(at), sizeBytes }),
    removeShare: (at) => slowFiles.call('removeShare', nameOf(at)),
    createShareKey: ({ entity, share }) =>
      helpers.files.call('createKey', { entity, ...renderShareRights(share) }),
    endFencedSessions: (fileSystem) => files.call('spreadFences', { fileSystem }),
    close: () => {
      files.close();
      slowFiles.close();
    },
  };
}

/**
 * A key that has no rights at metadata servers still serves volumes, so its error is not the one of a key that the cluster
 * refuses.
 */
function namingRights(helper: CephHelper): CephHelper {
  return {
    close: () => helper.close(),
    async call<Result>(method: string, args: Record<string, unknown>) {
      try {
        return await helper.call<Result>(method, args);
      } catch (error) {
        if (!(error instanceof StorageError) || error.code !== 'denied') throw error;
        const advice = `The key of the schedulers needs mds 'allow *' for shared volumes.`;
        throw new StorageError('failed', `${error.message} ${advice}`, { cause: error });
      }
    },
  };
}
