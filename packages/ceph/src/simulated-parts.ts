import { randomBytes } from 'node:crypto';
import type {
  NewVolume,
  StorageCluster,
  Volume,
  VolumeLabels,
  VolumeName,
} from './storage-cluster.ts';
import { StorageError, type StorageErrorCode } from './storage-error.ts';

export type Stored = VolumeName & {
  id: string;
  sizeBytes: number;
  labels: VolumeLabels | null;
  /** Null if it is not encrypted. */
  passphrase: string | null;
  parentId: string | null;
  content: string;
  snapshots: Map<string, { content: string; sizeBytes: number }>;
  watchers: Set<string>;
  locker: string | null;
  isTrash: boolean;
};

/** Returns the volume as callers see it, so that they cannot change what is stored. */
export function viewOf(stored: Stored): Volume {
  return {
    pool: stored.pool,
    name: stored.name,
    id: stored.id,
    sizeBytes: stored.sizeBytes,
    encrypted: stored.passphrase !== null,
    isRestoring: false,
    labels: stored.labels && { ...stored.labels },
    parentId: stored.parentId,
    snapshots: [...stored.snapshots.keys()],
    watchers: [...stored.watchers],
    locker: stored.locker,
  };
}

export function pathOf({ pool, name }: VolumeName): string {
  return `${pool}/${name}`;
}

/** Throws unless the wanted volume has the encryption that the content has. */
export function needPassphrase(
  passphrase: string | null,
  { encryption, ...wanted }: VolumeName & Pick<NewVolume, 'encryption'>,
): void {
  if ((passphrase === null) !== (encryption === undefined))
    fail('failed', `The encryption of the volume ${pathOf(wanted)} differs.`);
  if (encryption && encryption.passphrase !== passphrase)
    fail('denied', `The passphrase does not open the volume ${pathOf(wanted)}.`);
}

export function fail(code: StorageErrorCode, message: string): never {
  throw new StorageError(code, message);
}

/** Returns the same methods, which fail as those of a cluster that cannot be reached. */
export function overNetwork(
  methods: StorageCluster,
  readNetwork: () => 'up' | 'down' | 'no_replies',
): StorageCluster {
  const lost = () => new StorageError('unreachable', 'The storage cluster did not reply in time.');
  return new Proxy(methods, {
    get: (target, name, receiver) => {
      const method: unknown = Reflect.get(target, name, receiver);
      if (typeof method !== 'function' || name === 'close') return method;
      return async (...args: unknown[]) => {
        if (readNetwork() === 'down') throw lost();
        const result: unknown = await method.apply(target, args);
        if (readNetwork() === 'no_replies') throw lost();
        return result;
      };
    },
  });
}

export type NewStored = Pick<NewVolume, 'pool' | 'name' | 'sizeBytes' | 'encryption'> & {
  labels: VolumeLabels | null;
};

export function makeStored(at: NewStored, id: string): Stored {
  return {
    ...{ pool: at.pool, name: at.name, id, sizeBytes: at.sizeBytes },
    labels: at.labels && { ...at.labels },
    passphrase: at.encryption?.passphrase ?? null,
    ...{ parentId: null, content: '', snapshots: new Map(), watchers: new Set() },
    ...{ locker: null, isTrash: false },
  };
}

/** The keys of a cluster by name, and the volume or share that each opens. */
export type SimulatedKeys = Map<string, { key: string; opens: string }>;

export function ensureKey(
  keys: SimulatedKeys,
  { entity, opens }: { entity: string; opens: string },
): string {
  const found = keys.get(entity);
  if (found && found.opens !== opens) fail('exists', `The key ${entity} opens something else.`);
  const entry = found ?? { key: randomBytes(16).toString('base64'), opens };
  keys.set(entity, entry);
  return entry.key;
}
