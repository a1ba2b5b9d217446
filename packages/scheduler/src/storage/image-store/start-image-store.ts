/**
 * Puts images of projects into the image store, and removes them from it, for the locations whose leases this process
 * holds. The desired state is in the database. Every step is idempotent and writes its result under the lease, so that after
 * a crash between any two steps the next holder repeats it.
 */
import { convertToQcow2 } from '@gantry/ceph/convert-image';
import { StorageError } from '@gantry/ceph/storage-error';
import type { AddressRules } from '@gantry/daemon/address-rules';
import type { Log } from '@gantry/daemon/log';
import { startLoop } from '@gantry/daemon/loop';
import type { Sql } from '@gantry/db/connect';
import type { Changes } from '@gantry/db/queries/changes';
import type { Lease } from '@gantry/db/queries/placement/leases';
import {
  listUnsettledStoredImages,
  type StoredImage,
  updateImageProblem,
} from '@gantry/db/queries/storage/image-work';
import { settleImage } from '../images/settle-image.ts';
import { LeaseLost } from '../lease-writes.ts';
import { WorkQueue } from '../work-queue.ts';
import { type ImageStore, ImageStoreUnusable } from './image-store.ts';
import { type StoreContext, storedImage } from './stored-image.ts';
import { sweepImageStore } from './sweep-image-store.ts';

export type ImageStoreOptions = {
  sql: Sql;
  log: Log;
  store: ImageStore;
  /** Converts the file of an image; with QEMU's program unless given. */
  convert?: typeof convertToQcow2 | undefined;
  /** From which addresses images of tenants may be fetched; public ones unless given. */
  imageNetworks?: AddressRules | undefined;
  /** Where uploaded files of images are. */
  imageUploads?: string | undefined;
  /** The leases that this process holds now. */
  leases: () => Lease[];
  /** The pause after the first failed attempt; it doubles with every further one. */
  retryMs?: number;
  /** How often the store is compared with the database. */
  sweepMs?: number;
};

export type ImageStoring = {
  note(changes: Pick<Changes, 'hasImageWork'>): void;
  stop(): Promise<void>;
};

const PUBLIC = { allowsPrivate: false, allowsLoopback: false };
/** Imports wait for servers of tenants, so they have a limit of their own. */
const MOST_IMPORTS = 4;
/** A conversion uses a core and the disk of this machine. */
const MOST_CONVERSIONS = 2;
const MOST_REMOVALS = 8;
const BATCH_ROWS = 32;
const RETRY_MS = 1_000;
const REST_MS = 500;
const IDLE_MS = 60_000;
const SWEEP_MS = 3_600_000;
/** All work is in one place, and queues count by place. */
const PLACE = 'image store';

export function startImageStore(options: ImageStoreOptions): ImageStoring {
  const { sql, log, store, leases, retryMs = RETRY_MS } = options;
  const stopping = new AbortController();
  const context: StoreContext = {
    ...{ sql, log, store, convert: options.convert ?? convertToQcow2 },
    imports: {
      rules: options.imageNetworks ?? PUBLIC,
      stopping: stopping.signal,
      uploads: options.imageUploads,
    },
  };
  const taken = new Set<string>();
  const makeQueue = (mostPerCluster: number) => new WorkQueue({ mostPerCluster, retryMs, taken });
  const imports = makeQueue(MOST_IMPORTS);
  const conversions = makeQueue(MOST_CONVERSIONS);
  const removals = makeQueue(MOST_REMOVALS);
  const queues = [imports, conversions, removals];
  let restsUntilMs = 0;

  const attempt = async (lease: Lease, image: StoredImage): Promise<'done' | 'retry'> => {
    try {
      await settleImage(context, { lease, image, place: storedImage(context, image) });
      return 'done';
    } catch (error) {
      if (error instanceof LeaseLost) return 'done';
      const facts = { error, image_id: image.id };
      if (isExpected(error)) log.warn(facts, 'an image was not settled yet; will be retried');
      else log.error(facts, 'an image was not settled; will be retried');
      const change = { imageId: image.id, problem: problemOf(error) };
      await updateImageProblem(sql, change).catch(() => {});
      return 'retry';
    } finally {
      // After the task has left the queue.
      setImmediate(() => loop.nudge());
    }
  };

  const startDue = async (lease: Lease): Promise<number> => {
    const notIds = queues.flatMap((each) => each.busy('image '));
    const selection = { location: lease.location, limit: BATCH_ROWS, notIds };
    let started = 0;
    for (const image of await listUnsettledStoredImages(sql, selection)) {
      const making = image.is_sent ? conversions : imports;
      const by = image.wanted === 'present' ? making : removals;
      if (by.start(`image ${image.id}`, PLACE, () => attempt(lease, image))) started += 1;
    }
    return started;
  };

  const loop = startLoop({
    name: 'image store',
    everyMs: () => (queues.some(({ hasRetries }) => hasRetries) ? retryMs : IDLE_MS),
    log,
    body: async () => {
      let started = 0;
      for (const lease of leases()) started += await startDue(lease);
      const isBusy = queues.some(({ isEmpty }) => !isEmpty);
      restsUntilMs = started === 0 && isBusy ? performance.now() + REST_MS : 0;
    },
  });

  const sweeping = startLoop({
    name: 'image store sweep',
    everyMs: options.sweepMs ?? SWEEP_MS,
    log,
    body: () => sweepImageStore({ sql, log, store }),
  });

  return {
    note({ hasImageWork }) {
      if (hasImageWork && performance.now() >= restsUntilMs) loop.nudge();
    },
    async stop() {
      await Promise.all([loop.stop(), sweeping.stop()]);
      stopping.abort();
      await Promise.all(queues.map((each) => each.idle()));
    },
  };
}

const isExpected = (error: unknown) =>
  error instanceof StorageError || error instanceof ImageStoreUnusable;

/** What tenants see while the image waits for another attempt. */
function problemOf(error: unknown): string {
  if (error instanceof StorageError && error.code === 'full') return 'the image store is full';
  return 'the image could not be stored yet; the operators have to look at it if that lasts';
}
