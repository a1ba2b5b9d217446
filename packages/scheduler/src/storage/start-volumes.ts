/**
 * Makes, changes and removes the volumes of the locations whose leases this process holds, and their keys. The desired
 * state is in the database: disks in pools, wanted and revoked keys, discarded volumes. Every step is idempotent and
 * writes its result under the lease, so that after a crash between any two steps the next holder repeats it.
 */
import type { StorageCluster } from '@gantry/ceph/storage-cluster';
import { StorageError } from '@gantry/ceph/storage-error';
import type { AddressRules } from '@gantry/daemon/address-rules';
import type { Log } from '@gantry/daemon/log';
import { startLoop } from '@gantry/daemon/loop';
import type { Secrets } from '@gantry/daemon/secrets';
import type { Sql } from '@gantry/db/connect';
import {
  listOldSnapshots,
  listUnsettledBackups,
  updateBackupProblem,
} from '@gantry/db/queries/backups/backup-work';
import type { Changes } from '@gantry/db/queries/changes';
import type { Lease } from '@gantry/db/queries/placement/leases';
import {
  listDisksToRestore,
  listUnsettledSnapshots,
  updateSnapshotProblem,
} from '@gantry/db/queries/snapshots/snapshot-work';
import { listUnsettledImages, updateImageProblem } from '@gantry/db/queries/storage/image-work';
import { listPoolsOf } from '@gantry/db/queries/storage/pools';
import {
  listDiscardedVolumes,
  listKeysToMake,
  listKeysToRemove,
  listVolumesToChange,
} from '@gantry/db/queries/storage/volume-work';
import { updateDiscardedProblem, updateVolumeProblem } from '@gantry/db/queries/storage/volumes';
import type { BucketSettings } from './backup-files/bucket/bucket-settings.ts';
import { openBackupFiles } from './backup-files/open-backup-files.ts';
import { runSchedules } from './backups/run-schedules.ts';
import { dropSnapshot, settleBackup } from './backups/settle-backup.ts';
import { changeVolume } from './change-volume.ts';
import { imageVolume } from './images/custom-images.ts';
import { settleImage } from './images/settle-image.ts';
import { ImageMissing, importImages } from './import-images.ts';
import { LeaseLost } from './lease-writes.ts';
import { createPoolWatch } from './pool-watch.ts';
import { removeVolume } from './remove-volume.ts';
import { restoreDisk } from './snapshots/restore-disk.ts';
import { settleSnapshot } from './snapshots/settle-snapshot.ts';
import { isTrouble, type OpenCluster, StorageClusters } from './storage-clusters.ts';
import { shownReason } from './storage-failure.ts';
import type { VolumeContext } from './volume-context.ts';
import { makeKey, removeRevokedKey } from './volume-keys.ts';
import { WorkQueue } from './work-queue.ts';

export type VolumesOptions = {
  sql: Sql;
  log: Log;
  secrets: Secrets;
  openCluster: OpenCluster;
  /** Where backups are stored, for all schedulers; undefined: nowhere. With a bucket it is only the spool of this one. */
  backupDirectory?: string | undefined;
  backupBucket?: BucketSettings | undefined;
  /** From which addresses images of tenants may be fetched; public ones unless given. */
  imageNetworks?: AddressRules | undefined;
  /** Where uploaded files of images are. */
  imageUploads?: string | undefined;
  /** The leases that this process holds now. */
  leases: () => Lease[];
  /** The pause after the first failed attempt; it doubles with every further one. */
  retryMs?: number;
  /** How often pools are read. */
  watchMs?: number;
  /** How often pools are compared with the database. */
  sweepMs?: number;
};

export type Volumes = {
  /** Returns the connection to a storage cluster. Throws a StorageError if it cannot be used. */
  cluster(clusterId: string): Promise<StorageCluster>;
  note(changes: Pick<Changes, 'hasVolumeWork' | 'hasPools'>): void;
  stop(): Promise<void>;
};

/** Enough for hundreds of volumes a second of a cluster that replies within tenths of a second. */
const MOST_PER_CLUSTER = 8;
/** Copies take as long as they are large. They have their own limit, so that they delay nothing else. */
const MOST_COPIES_PER_CLUSTER = 4;
/** Restores may wait for a bucket, so they have a limit of their own too. */
const MOST_RESTORES_PER_CLUSTER = 4;
/** The same for backups: many may be due at the same time, and tenants do not wait for them. */
const MOST_BACKUPS_PER_CLUSTER = 2;
/** Imports wait for servers of tenants, so they have a limit of their own too. */
const MOST_IMPORTS_PER_CLUSTER = 4;
const PUBLIC = { allowsPrivate: false, allowsLoopback: false };
const BATCH_ROWS = 32;
const RETRY_MS = 1_000;
const WATCH_MS = 15_000;
/**
 * If everything that is left runs or waits for its next attempt, the poll of changes wakes the loop this seldom. If
 * nothing is left, work that the poll finds is new, and begins at once.
 */
const REST_MS = 500;
const IDLE_MS = 60_000;

export function startVolumes(options: VolumesOptions): Volumes {
  const { sql, log, secrets, leases, retryMs = RETRY_MS, watchMs = WATCH_MS } = options;
  const clusters = new StorageClusters({ sql, log, open: options.openCluster });
  const wake = () => loop.nudge();
  const images = importImages({
    ...{ sql, log, clusters },
    onImported: () => {
      queue.forget();
      wake();
    },
  });
  const stopping = new AbortController();
  const { imageNetworks: rules = PUBLIC, backupBucket: settings } = options;
  const bucket = settings && { settings, stopping: stopping.signal };
  const backupFiles = openBackupFiles(options.backupDirectory, bucket);
  const imports = { rules, stopping: stopping.signal, uploads: options.imageUploads };
  const context: VolumeContext = { sql, log, secrets, clusters, images, imports, backupFiles };
  // A disk can have several things to do, and they are in different queues.
  const taken = new Set<string>();
  const makeQueue = (mostPerCluster: number) => new WorkQueue({ mostPerCluster, retryMs, taken });
  const queue = makeQueue(MOST_PER_CLUSTER);
  const copies = makeQueue(MOST_COPIES_PER_CLUSTER);
  const restores = makeQueue(MOST_RESTORES_PER_CLUSTER);
  const downloads = makeQueue(MOST_IMPORTS_PER_CLUSTER);
  const backups = makeQueue(MOST_BACKUPS_PER_CLUSTER);
  const queues = [queue, copies, restores, downloads, backups];
  const watch = createPoolWatch(context, options);
  let hasPools = false;
  let restsUntilMs = 0;

  /** Runs a step and records why it failed. Another holder of the lease does what this one could not. */
  const attempt = async (
    step: () => Promise<void>,
    recordProblem: (error: Error) => Promise<void>,
  ): Promise<'done' | 'retry'> => {
    try {
      await step();
      return 'done';
    } catch (error) {
      if (error instanceof LeaseLost) return 'done';
      if (error instanceof StorageError || error instanceof ImageMissing) {
        // What is wrong with a whole cluster or with an image is logged once.
        if (error instanceof StorageError && !isTrouble(error))
          log.warn({ error }, 'a volume was not changed yet; will be retried');
        await recordProblem(error).catch(() => {});
      } else log.error({ error }, 'a volume was not changed; will be retried');
      return 'retry';
    } finally {
      // After the task has left the queue.
      setImmediate(wake);
    }
  };

  const startDue = async (lease: Lease): Promise<number> => {
    const selection = {
      ...{ location: lease.location, limit: BATCH_ROWS },
      ...{
        notIds: [queue, copies, restores].flatMap((each) => each.busy('disk ')),
        notClusters: clusters.paused(),
      },
    };
    let started = 0;
    const start = (
      name: string,
      clusterId: string,
      step: () => Promise<void>,
      record: (error: Error) => Promise<void> = async () => {},
      by = queue,
    ) => {
      if (by.start(name, clusterId, () => attempt(step, record))) started += 1;
    };
    const ofDisk = (diskId: string) => (error: Error) =>
      updateVolumeProblem(sql, { diskId, problem: shownReason(error) });
    for (const volume of await listVolumesToChange(sql, selection)) {
      const change = () => changeVolume({ context, lease, volume });
      const source = volume.source ?? volume.backups ?? (volume.encrypted ? volume.image : null);
      const isCopy = source !== null && volume.observed_size_gib === null;
      const by = isCopy ? (volume.backups ? restores : copies) : queue;
      start(`disk ${volume.disk_id}`, volume.cluster_id, change, ofDisk(volume.disk_id), by);
    }
    const restored = await listDisksToRestore(sql, selection);
    for (const disk of restored) {
      const restore = () => restoreDisk(context, { lease, disk });
      start(`disk ${disk.id}`, disk.cluster_id, restore, ofDisk(disk.id), copies);
    }
    const notSnapshots = { ...selection, notIds: queue.busy('snapshot ') };
    for (const snapshot of await listUnsettledSnapshots(sql, notSnapshots)) {
      const snapshotId = snapshot.id;
      const settle = () => settleSnapshot(context, { lease, snapshot });
      start(`snapshot ${snapshotId}`, snapshot.cluster_id, settle, (error) =>
        updateSnapshotProblem(sql, { snapshotId, problem: shownReason(error) }),
      );
    }
    const notBackups = { ...selection, notIds: backups.busy('backup ') };
    for (const backup of await listUnsettledBackups(sql, notBackups)) {
      const backupId = backup.id;
      const settle = () => settleBackup(context, { lease, backup });
      const record = (error: Error) =>
        updateBackupProblem(sql, { backupId, problem: shownReason(error) });
      start(`backup ${backupId}`, backup.cluster_id, settle, record, backups);
    }
    for (const old of await listOldSnapshots(sql, notBackups)) {
      const drop = () => dropSnapshot(context, { lease, old });
      start(`backup ${old.backup_id}`, old.cluster_id, drop, undefined, backups);
    }
    const notImages = {
      ...selection,
      notIds: [queue, copies, downloads].flatMap((each) => each.busy('image ')),
    };
    for (const image of await listUnsettledImages(sql, notImages)) {
      const imageId = image.id;
      const place = imageVolume(context, image);
      const settle = () => settleImage(context, { lease, image, place });
      const record = (error: Error) =>
        updateImageProblem(sql, { imageId, problem: shownReason(error) });
      const making = image.source ? copies : downloads;
      const by = image.wanted === 'present' ? making : queue;
      start(`image ${imageId}`, image.cluster_id, settle, record, by);
    }
    for (const key of await listKeysToMake(sql, selection)) {
      const make = () => makeKey(context, { lease, key });
      start(`disk ${key.disk_id}`, key.cluster_id, make, ofDisk(key.disk_id));
    }
    const notEntities = queue.busy('key ');
    for (const key of await listKeysToRemove(sql, { ...selection, notEntities }))
      start(`key ${key.entity}`, key.cluster_id, () => removeRevokedKey(context, { lease, key }));
    for (const volume of await listDiscardedVolumes(sql, selection)) {
      const diskId = volume.disk_id;
      const remove = () => removeVolume(context, { lease, volume });
      // Only operators see it.
      start(`disk ${diskId}`, volume.cluster_id, remove, ({ message: problem }) =>
        updateDiscardedProblem(sql, { diskId, problem }),
      );
    }
    return started;
  };

  const loop = startLoop({
    name: 'volumes',
    everyMs: () => (queues.some(({ hasRetries }) => hasRetries) ? retryMs : IDLE_MS),
    log,
    body: async () => {
      if (!hasPools) return;
      const held = leases();
      const locations = held.map(({ location }) => location);
      const withPools = new Set(
        (await listPoolsOf(sql, locations)).map(({ location }) => location),
      );
      let started = 0;
      for (const lease of held) if (withPools.has(lease.location)) started += await startDue(lease);
      const isBusy = queues.some(({ isEmpty }) => !isEmpty);
      const isWaiting = isBusy || clusters.paused().length > 0;
      restsUntilMs = started === 0 && isWaiting ? performance.now() + REST_MS : 0;
    },
  });

  const watching = startLoop({
    name: 'storage pools',
    everyMs: watchMs,
    log,
    body: async () => {
      if (hasPools) await watch.look(leases());
    },
  });

  const scheduling = startLoop({
    name: 'backup schedules',
    everyMs: watchMs,
    log,
    body: async () => {
      if (!hasPools) return;
      for (const lease of leases()) {
        await runSchedules(context, lease).catch((error: unknown) => {
          if (!(error instanceof LeaseLost)) throw error;
        });
      }
    },
  });

  return {
    cluster: (clusterId) => clusters.get(clusterId),
    note(changes) {
      const isNew = changes.hasPools && !hasPools;
      hasPools = changes.hasPools;
      if (isNew) watching.nudge();
      if (isNew || (changes.hasVolumeWork && performance.now() >= restsUntilMs)) wake();
    },
    async stop() {
      await Promise.all([loop.stop(), watching.stop(), scheduling.stop()]);
      const stopped = images.stop();
      stopping.abort();
      await queue.idle();
      // A copy may take an hour. It ends with the connection, and the next holder of the lease repeats it.
      await clusters.close();
      await Promise.all([stopped, ...queues.map((each) => each.idle())]);
    },
  };
}
