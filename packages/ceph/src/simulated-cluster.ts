import { createHash, randomUUID } from 'node:crypto';
import { fenceCovers, isFenceable } from './fence-address.ts';
import { readBackupFiles, writeBackupFile } from './simulated-backups.ts';
import { openVolume, type SimulatedClient } from './simulated-client.ts';
import { readImageHead } from './simulated-image.ts';
import {
  ensureKey,
  fail,
  makeStored,
  type NewStored,
  needPassphrase,
  overNetwork,
  pathOf,
  type SimulatedKeys,
  type Stored,
  viewOf,
} from './simulated-parts.ts';
import { type SimulatedShareClient, simulateShares } from './simulated-shares.ts';
import {
  IMAGE_SNAPSHOT,
  type NewVolume,
  type PoolSpace,
  type StorageCluster,
  type Volume,
  type VolumeLabels,
  type VolumeName,
} from './storage-cluster.ts';
import type { ShareName } from './storage-shares.ts';

export type SimulatedCluster = StorageCluster & {
  /** `down`: nothing happens. `no_replies`: changes happen. Every call throws `unreachable` in both cases. */
  setNetwork(network: 'up' | 'down' | 'no_replies'): void;
  /** Adds a pool or replaces its space. A pool is full if all of its space is used. */
  setPool(pool: string, space: PoolSpace | null): void;
  /** Opens a volume from an address with a port and a nonce (`10.0.0.1:0/7`), with a key or as an administrator. */
  open(volume: VolumeName & { address: string; key?: string }): SimulatedClient;
  /** Mounts a share from an address with a port and a nonce, with a key or as an administrator. */
  mount(share: ShareName & { address: string; key?: string }): SimulatedShareClient;
  /** Returns the content of a volume; that of an encrypted one is of no use without its passphrase. */
  readContent(at: VolumeName & { passphrase?: string | undefined }): string;
  /** Creates a volume as another user of the pool would: without labels. */
  addForeignVolume(at: VolumeName): void;
  /** Returns the names of the volumes in the trash. */
  listTrash(pool: string): string[];
};

/**
 * A storage cluster in memory, for tests and for simulated hosts. Unless told otherwise it has the pool `volumes`, of 1 TiB,
 * and the file system `shares` with a data pool of the same name and size.
 */
export function simulateCluster({
  pools = {
    volumes: { sizeBytes: 2 ** 40, usedBytes: 0 },
    shares: { sizeBytes: 2 ** 40, usedBytes: 0 },
  },
  fsid = randomUUID(),
}: {
  pools?: Record<string, PoolSpace | null>;
  fsid?: string;
} = {}): SimulatedCluster {
  let network: 'up' | 'down' | 'no_replies' = 'up';
  const spaces = new Map(Object.entries(pools));
  const volumes = new Map<string, Stored>();
  const keys: SimulatedKeys = new Map();
  const fences = new Set<string>();
  let created = 0;

  const all = () => [...volumes.values()];
  const find = ({ pool, name }: VolumeName) => {
    readSpace(pool);
    return all().find((each) => each.pool === pool && each.name === name && !each.isTrash);
  };
  const get = (at: VolumeName) =>
    find(at) ?? fail('not_found', `There is no volume ${pathOf(at)}.`);
  const isFenced = (address: string) => [...fences].some((each) => fenceCovers(each, address));
  const clonesOf = ({ id }: Stored) => all().filter(({ parentId }) => parentId === id);

  function readSpace(pool: string): PoolSpace | null {
    const space = spaces.get(pool);
    return space === undefined ? fail('not_found', `There is no pool ${pool}.`) : space;
  }

  function isFull(pool: string): boolean {
    const space = readSpace(pool);
    return space !== null && space.usedBytes >= space.sizeBytes;
  }

  function needSpace(pool: string): void {
    if (isFull(pool)) fail('full', `The pool ${pool} is full.`);
  }

  function needUnused(volume: Stored): void {
    if (volume.watchers.size > 0) fail('busy', `A client has the volume ${pathOf(volume)} open.`);
  }

  function add(at: NewStored): Stored {
    const id = createHash('sha256').update(`${fsid} ${++created}`).digest('hex').slice(0, 12);
    const stored = makeStored(at, id);
    volumes.set(id, stored);
    return stored;
  }

  /** Returns the volume of this name if it has these labels, and undefined if there is none. */
  function findSame(
    volume: VolumeName & { labels: VolumeLabels } & Pick<NewVolume, 'encryption'>,
  ): Stored | undefined {
    const found = find(volume);
    const isSame =
      found?.labels?.installation === volume.labels.installation &&
      found.labels.resource === volume.labels.resource;
    if (found && !isSame) fail('exists', `The volume ${pathOf(volume)} has other labels.`);
    if (found) needPassphrase(found.passphrase, volume);
    return found;
  }

  function createVolume(volume: NewVolume): Volume {
    const same = findSame(volume);
    if (same) return viewOf(same);
    needSpace(volume.pool);
    if (volume.image === undefined) return viewOf(add(volume));
    const image = get({ pool: volume.pool, name: volume.image });
    const base = image.snapshots.get(IMAGE_SNAPSHOT);
    if (!base) return fail('not_found', `The volume ${pathOf(image)} is no image.`);
    if (volume.sizeBytes < base.sizeBytes)
      return fail('failed', `The volume ${pathOf(volume)} would be smaller than its image.`);
    const clone = add(volume);
    const parentId = volume.encryption ? null : image.id;
    Object.assign(clone, { parentId, content: base.content });
    return viewOf(clone);
  }

  function removeTrash(volume: Stored): void {
    if (clonesOf(volume).length === 0) volumes.delete(volume.id);
  }

  const shares = simulateShares({ keys, isFenced, needSpace });

  const methods: StorageCluster = {
    ...shares.methods,
    readFsid: async () => fsid,
    readPool: async (pool) => readSpace(pool),
    isPoolFull: async (pool) => isFull(pool),
    createVolume: async (volume) => createVolume(volume),
    readVolume: async (at) => {
      const found = find(at);
      return found ? viewOf(found) : null;
    },
    listVolumes: async (pool) => {
      readSpace(pool);
      return all()
        .filter((each) => each.pool === pool && !each.isTrash)
        .map(({ name }) => name);
    },
    growVolume: async (at) => {
      const volume = get(at);
      if (at.sizeBytes < volume.sizeBytes) fail('failed', `The volume ${pathOf(at)} is larger.`);
      volume.sizeBytes = at.sizeBytes;
    },
    removeVolume: async (at) => {
      const volume = find(at);
      if (!volume) return;
      if (!volume.labels)
        fail('denied', `The volume ${pathOf(at)} has no labels, so it is not ours.`);
      needUnused(volume);
      volume.snapshots.clear();
      volume.isTrash = true;
      removeTrash(volume);
    },
    emptyTrash: async (pool) => {
      readSpace(pool);
      for (const each of all()) if (each.pool === pool && each.isTrash) removeTrash(each);
    },
    createSnapshot: async ({ snapshot, ...at }) => {
      const { snapshots, content, sizeBytes } = get(at);
      if (!snapshots.has(snapshot)) snapshots.set(snapshot, { content, sizeBytes });
    },
    removeSnapshot: async ({ snapshot, ...at }) => {
      find(at)?.snapshots.delete(snapshot);
    },
    restoreSnapshot: async ({ snapshot, ...at }) => {
      const volume = get(at);
      const from = volume.snapshots.get(snapshot);
      if (!from) return fail('not_found', `The volume ${pathOf(at)} has no snapshot ${snapshot}.`);
      needUnused(volume);
      // The size is kept: a volume never becomes smaller.
      volume.content = from.content;
    },
    copySnapshot: async ({ from, to }) => {
      const same = findSame(to);
      if (same) return viewOf(same);
      const { snapshots, passphrase } = get(from);
      const snapshot = snapshots.get(from.snapshot);
      if (!snapshot)
        return fail('not_found', `The volume ${pathOf(from)} has no snapshot ${from.snapshot}.`);
      if (to.sizeBytes < snapshot.sizeBytes)
        return fail('failed', `The volume ${pathOf(to)} would be smaller than the snapshot.`);
      needPassphrase(passphrase, to);
      needSpace(to.pool);
      return viewOf(Object.assign(add(to), { content: snapshot.content }));
    },
    exportSnapshot: async ({ snapshot, since, file, ...at }) => {
      return await writeBackupFile(file, { volume: get(at), since, snapshot });
    },
    importBackup: async ({ parts, ...to }) => {
      const same = findSame(to);
      if (same) return viewOf(same);
      const { content, sizeBytes, passphrase } = await readBackupFiles(parts);
      if (to.sizeBytes < sizeBytes)
        return fail('failed', `The disk is smaller than the ${sizeBytes} bytes of the backup.`);
      needPassphrase(passphrase, to);
      needSpace(to.pool);
      return viewOf(Object.assign(add(to), { content }));
    },
    importImage: async ({ file, format, maxBytes, ...at }) => {
      const same = findSame(at);
      if (same) return viewOf(same);
      needSpace(at.pool);
      const { content, sizeBytes } = await readImageHead({ file, format, maxBytes });
      const image = add({ ...at, sizeBytes });
      image.content = content;
      image.snapshots.set(IMAGE_SNAPSHOT, { content, sizeBytes });
      return viewOf(image);
    },
    createKey: async ({ entity, volume }) => ensureKey(keys, { entity, opens: volume.id }),
    removeKey: async (entity) => {
      keys.delete(entity);
    },
    listKeys: async (prefix) => [...keys.keys()].filter((each) => each.startsWith(prefix)),
    fence: async (addresses) => {
      const wrong = addresses.find((each) => !isFenceable(each));
      if (wrong !== undefined) fail('failed', `${wrong} is not the address of a client.`);
      for (const each of addresses) fences.add(each);
      for (const { watchers } of all())
        for (const each of watchers) if (isFenced(each)) watchers.delete(each);
      shares.endFenced();
    },
    unfence: async (addresses) => {
      for (const each of addresses) fences.delete(each);
    },
    listFences: async () => [...fences],
    breakLock: async (at) => {
      const volume = get(at);
      if (volume.locker !== null && !isFenced(volume.locker))
        fail(
          'busy',
          `The client ${volume.locker} has the lock of ${pathOf(at)} and is not fenced.`,
        );
      volume.locker = null;
    },
    close: async () => {},
  };

  function open({
    address,
    key,
    ...at
  }: VolumeName & { address: string; key?: string }): SimulatedClient {
    const volume = get(at);
    if (isFenced(address)) fail('fenced', `The client ${address} is fenced.`);
    const isOfVolume =
      key === undefined ||
      [...keys.values()].some((each) => each.key === key && each.opens === volume.id);
    if (!isOfVolume) fail('denied', `The key does not open the volume ${pathOf(at)}.`);
    return openVolume(volume, { address, isFenced: () => isFenced(address) });
  }

  return {
    ...overNetwork(methods, () => network),
    setNetwork: (next) => {
      network = next;
    },
    setPool: (pool, space) => {
      spaces.set(pool, space);
    },
    open,
    mount: shares.mount,
    readContent: (at) => {
      const { content, passphrase } = get(at);
      return passphrase === null || passphrase === at.passphrase ? content : 'encrypted';
    },
    addForeignVolume: (at) => {
      add({ ...at, sizeBytes: 2 ** 30, labels: null });
    },
    listTrash: (pool) =>
      all()
        .filter((each) => each.pool === pool && each.isTrash)
        .map(({ name }) => name),
  };
}
