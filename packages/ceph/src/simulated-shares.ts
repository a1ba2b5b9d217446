import { ensureKey, fail, type SimulatedKeys } from './simulated-parts.ts';
import {
  type NewShare,
  type Share,
  type ShareName,
  type StorageShares,
  sharePath,
} from './storage-shares.ts';

/** A program that has a share mounted. */
export type SimulatedShareClient = {
  /** Replaces the content of the share. Throws `full` if it is larger than the share. */
  write(content: string): void;
  read(): string;
  close(): void;
};

const FILE_SYSTEM = 'shares';

type Stored = NewShare & { content: string; watchers: Set<string> };

/** Shared volumes in memory. The only file system has a data pool of the same name. */
export function simulateShares({
  keys,
  isFenced,
  needSpace,
}: {
  keys: SimulatedKeys;
  isFenced(address: string): boolean;
  needSpace(pool: string): void;
}) {
  const stored = new Map<string, Stored>();
  const needFileSystem = (name: string) =>
    name === FILE_SYSTEM || fail('not_found', `There is no file system ${name}.`);
  const find = (at: ShareName) => {
    needFileSystem(at.fileSystem);
    return stored.get(sharePath(at));
  };
  const get = (at: ShareName) => find(at) ?? fail('not_found', `There is no share ${at.name}.`);
  const view = ({ content: _, watchers, ...share }: Stored): Share => ({
    ...share,
    path: sharePath(share),
    watchers: [...watchers],
  });

  const methods: StorageShares = {
    createShare: async ({ fileSystem, installation, name, pool, sizeBytes }) => {
      const found = find({ fileSystem, installation, name });
      if (found && found.pool !== pool) fail('exists', `The share ${name} is in another pool.`);
      if (found) return view(found);
      if (pool !== FILE_SYSTEM) fail('not_found', `${pool} is no data pool of ${fileSystem}.`);
      needSpace(pool);
      const share = { fileSystem, installation, name, pool, sizeBytes };
      const made: Stored = { ...share, content: '', watchers: new Set() };
      stored.set(sharePath(share), made);
      return view(made);
    },
    readShare: async (at) => {
      const found = find(at);
      return found ? view(found) : null;
    },
    listShares: async ({ fileSystem, installation }) => {
      needFileSystem(fileSystem);
      const own = [...stored.values()].filter((each) => each.installation === installation);
      return own.map(({ name }) => name);
    },
    growShare: async (at) => {
      const share = get(at);
      if (at.sizeBytes < share.sizeBytes) fail('failed', `The share ${at.name} is larger.`);
      share.sizeBytes = at.sizeBytes;
    },
    removeShare: async (at) => {
      const share = find(at);
      if (share?.watchers.size) fail('busy', `A client has the share ${at.name} mounted.`);
      stored.delete(sharePath(at));
    },
    createShareKey: async ({ entity, share }) => ensureKey(keys, { entity, opens: share.path }),
    endFencedSessions: async (fileSystem) => {
      needFileSystem(fileSystem);
    },
  };

  return {
    methods,
    /** A client that was fenced stays useless after the fence is lifted. */
    endFenced(): void {
      for (const { watchers } of stored.values())
        for (const each of watchers) if (isFenced(each)) watchers.delete(each);
    },
    mount({ address, key, ...at }: ShareName & { address: string; key?: string }) {
      const share = get(at);
      if (isFenced(address)) fail('fenced', `The client ${address} is fenced.`);
      const isOfShare =
        key === undefined ||
        [...keys.values()].some((each) => each.key === key && each.opens === sharePath(share));
      if (!isOfShare) fail('denied', `The key does not open the share ${at.name}.`);
      share.watchers.add(address);
      const needMounted = () =>
        share.watchers.has(address) || fail('fenced', `The client ${address} was fenced.`);
      return {
        write: (content: string) => {
          needMounted();
          if (content.length > share.sizeBytes) fail('full', `The share ${at.name} is full.`);
          share.content = content;
        },
        read: () => {
          needMounted();
          return share.content;
        },
        close: () => {
          share.watchers.delete(address);
        },
      };
    },
  };
}
