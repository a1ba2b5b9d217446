import { type CephShares, makeShares } from './ceph-shares.ts';
import { withRawFile } from './convert-image.ts';
import { isFenceable } from './fence-address.ts';
import { makeLuksHeader } from './headers/luks-header.ts';
import { type CephHelper, type HelperCrash, makeCephHelper } from './helper-process.ts';
import { renderKeyRights } from './key-rights.ts';
import {
  IMAGE_SNAPSHOT,
  type NewVolume,
  type PoolSpace,
  type StorageCluster,
  type Volume,
  type VolumeName,
} from './storage-cluster.ts';
import { StorageError } from './storage-error.ts';

export type CephOptions = {
  /** Addresses of the mons with their ports, which speak the protocol's second version: `10.0.0.1:3300`. */
  monitors: readonly string[];
  /** Without "client.". */
  userName: string;
  /** In base64. */
  key: string;
  /** How long a call may take. */
  limitMs?: number;
  /** How long copies and removals may take without any progress; an hour unless given. */
  slowLimitMs?: number;
  /** How long a single request to the cluster may take. */
  requestLimitMs?: number;
  /** A directory with space for the raw content of an image; the system's unless given. */
  scratchDirectory?: string;
  /** A program and arguments that start the helper, such as those of another network namespace. */
  command?: readonly string[];
  /** Called when one of Ceph's libraries has crashed. */
  onCrash?: (crash: HelperCrash) => void;
};

const SLOW_LIMIT_MS = 3600_000;
const YEAR_SECONDS = 31_536_000;

/**
 * The rights that the key of the control plane needs. A key that can create keys can create any, so it is as powerful as
 * the administrator's and is given to schedulers only. A fence makes every OSD fetch the newest map, which needs all
 * rights there.
 */
export const CONTROL_PLANE_RIGHTS = {
  mon: 'profile rbd, allow r, allow service auth rwx, allow command "osd blocklist"',
  osd: 'allow *',
  /** Only for shared volumes: their quotas, and the clients that have them mounted. */
  mds: 'allow *',
};

/** Connects to a Ceph cluster at the first call. The key needs `CONTROL_PLANE_RIGHTS`. */
export function connectCeph({
  limitMs = 15_000,
  slowLimitMs = SLOW_LIMIT_MS,
  requestLimitMs = 5000,
  ...options
}: CephOptions): StorageCluster {
  const seconds = `${requestLimitMs / 1000}`;
  const connection = {
    user: options.userName,
    conf: {
      mon_host: options.monitors.map((each) => `v2:${each}`).join(','),
      key: options.key,
      keyring: '/dev/null',
      client_mount_timeout: seconds,
      rados_mon_op_timeout: seconds,
      rados_osd_op_timeout: seconds,
      // Version 2 needs no protection of snapshots, so an image with clones can be put into the trash.
      rbd_default_clone_format: '2',
      rbd_blocklist_expire_seconds: `${YEAR_SECONDS}`,
      admin_socket: '',
      log_file: '/dev/null',
      log_to_stderr: 'false',
    },
  };
  const { command = [], onCrash = () => {} } = options;
  const common = { connection, command, onCrash };
  const quick = makeCephHelper({ ...common, limitMs });
  // A helper of its own: one that is killed because a call took too long must not end an hour's copy.
  const slow = makeCephHelper({ ...common, limitMs: slowLimitMs });
  // A metadata server that does not reply has no time limit but this one, and must end no other calls.
  const files = makeCephHelper({ ...common, limitMs });
  const slowFiles = makeCephHelper({ ...common, limitMs: slowLimitMs });
  const shares = makeShares({ files, slowFiles });
  return makeCluster({ quick, slow, shares, scratchDirectory: options.scratchDirectory });
}

/** What the helper knows of a volume; the caller knows its name. */
type Found = Omit<Volume, 'pool' | 'name'>;

function makeCluster({
  quick,
  slow,
  shares,
  scratchDirectory,
}: {
  quick: CephHelper;
  slow: CephHelper;
  shares: CephShares;
  scratchDirectory: string | undefined;
}): StorageCluster {
  const view = ({ pool, name }: VolumeName, found: Found): Volume => ({ pool, name, ...found });
  const nameOf = ({ pool, name }: VolumeName) => ({ pool, name });
  const snapshotOf = (at: VolumeName & { snapshot: string }) => ({
    ...nameOf(at),
    snapshot: at.snapshot,
  });
  return {
    ...shares,
    readFsid: () => quick.call('readFsid', {}),
    readPool: (pool) => quick.call<PoolSpace | null>('readPool', { pool }),
    isPoolFull: (pool) => quick.call<boolean>('isPoolFull', { pool }),

    createVolume: async (volume) => {
      const args = { pool: volume.pool, volume: withHeader(volume), snapshot: IMAGE_SNAPSHOT };
      const isCopy = volume.encryption !== undefined && volume.image !== undefined;
      return view(volume, await (isCopy ? slow : quick).call<Found>('createVolume', args));
    },
    readVolume: async (at) => {
      const found = await quick.call<Found | null>('readVolume', nameOf(at));
      return found && view(at, found);
    },
    listVolumes: (pool) => quick.call('listVolumes', { pool }),
    growVolume: ({ sizeBytes, ...at }) => quick.call('growVolume', { ...nameOf(at), sizeBytes }),
    removeVolume: (at) => slow.call('removeVolume', nameOf(at)),
    emptyTrash: (pool) => slow.call('emptyTrash', { pool }),

    createSnapshot: (at) => quick.call('createSnapshot', snapshotOf(at)),
    removeSnapshot: (at) => slow.call('removeSnapshot', snapshotOf(at)),
    restoreSnapshot: (at) => slow.call('restoreSnapshot', snapshotOf(at)),
    copySnapshot: async ({ from, to }) =>
      view(to, await slow.call<Found>('copySnapshot', { ...snapshotOf(from), to })),

    exportSnapshot: ({ since, file, ...at }) =>
      slow.call('exportSnapshot', { ...snapshotOf(at), since, file }),
    importBackup: async ({ parts, ...volume }) => {
      const args = { pool: volume.pool, volume, parts };
      return view(volume, await slow.call<Found>('importBackup', args));
    },

    importImage: async ({ file, format, labels, isOfTenant = false, maxBytes, ...image }) => {
      const directory = scratchDirectory === undefined ? {} : { directory: scratchDirectory };
      const limits = { isOfTenant, ...(maxBytes === undefined ? {} : { maxBytes }) };
      const found = await withRawFile({ file, format, ...directory, ...limits }, (raw) => {
        const args = {
          pool: image.pool,
          volume: { ...nameOf(image), labels },
          file: raw,
          snapshot: IMAGE_SNAPSHOT,
        };
        return slow.call<Found>('importFile', args);
      });
      return view(image, found);
    },

    createKey: async ({ entity, pool, volume }) =>
      quick.call('createKey', { entity, ...renderKeyRights(pool, volume) }),
    removeKey: (entity) => quick.call('removeKey', { entity }),
    listKeys: (prefix) => quick.call('listKeys', { prefix }),

    fence: async (addresses) => {
      const wrong = addresses.find((each) => !isFenceable(each));
      if (wrong !== undefined)
        throw new StorageError('failed', `"${wrong}" is not the address of a client.`);
      await quick.call('fence', { addresses });
    },
    unfence: (addresses) => quick.call('unfence', { addresses }),
    listFences: async () => (await quick.call<string[]>('listFences', {})).map(withoutZeros),
    breakLock: (at) => quick.call('breakLock', nameOf(at)),

    close: async () => {
      quick.close();
      slow.close();
      shares.close();
    },
  };
}

/** A copy and an import have the header of their origin. */
function withHeader(volume: NewVolume) {
  const { encryption } = volume;
  if (!encryption) return volume;
  const header = makeLuksHeader(encryption.passphrase).toString('base64');
  return { ...volume, encryption: { ...encryption, header } };
}

/** Ceph adds a port and a nonce of 0 to an address that was fenced without them. */
function withoutZeros(address: string): string {
  const [, ip] = /^\[?([^\]]*?)\]?:0\/0$/.exec(address) ?? [];
  return ip ?? address;
}
