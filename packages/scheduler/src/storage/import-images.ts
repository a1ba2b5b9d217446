import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Log } from '@gantry/daemon/log';
import { GIB } from '@gantry/daemon/units';
import type { Sql } from '@gantry/db/connect';
import type { Lease } from '@gantry/db/queries/placement/leases';
import {
  insertPoolImage,
  readPoolImage,
  updatePoolImageProblem,
  updatePoolImageReady,
} from '@gantry/db/queries/storage/pool-images';
import type { VolumePlace } from '@gantry/db/queries/storage/volume-work';
import { fetchImage } from './fetch-image.ts';
import { labelsOf, writeWithLease } from './lease-writes.ts';
import type { StorageClusters } from './storage-clusters.ts';

type Image = { name: string; url: string; sha256: string };
type Import = { lease: Lease; place: VolumePlace; image: Image };

export type ImportImages = {
  /**
   * Returns the name of the image's volume. If the pool does not have it yet, starts an import and throws `ImageMissing`,
   * so that the disks of other images do not wait for it.
   */
  require(wanted: Import): Promise<string>;
  /** Ends downloads. An import into the cluster ends when the cluster is closed. */
  stop(): Promise<void>;
};

/** The disk has to wait until the pool has the image. */
export class ImageMissing extends Error {
  override name = 'ImageMissing';
}

/** A failed import is repeated after this time. */
const RETRY_MS = 30_000;

type Options = { sql: Sql; log: Log; clusters: StorageClusters; onImported: () => void };

export function importImages({ sql, log, clusters, onImported }: Options): ImportImages {
  const running = new Map<string, Promise<void>>();
  const failedAtMs = new Map<string, number>();
  const stopping = new AbortController();

  const importImage = async ({ lease, place, image }: Import) => {
    const { pool, pool_id: poolId, cluster_id } = place;
    const { sha256 } = image;
    await writeWithLease({ sql }, lease, (tx) => insertPoolImage(tx, { poolId, sha256 }));
    const directory = await mkdtemp(join(tmpdir(), 'gantry-image-'));
    try {
      const file = join(directory, 'image');
      const format = await fetchImage(image, file, { signal: stopping.signal });
      const name = volumeNameOf(image);
      const volume = await clusters.use(cluster_id, (cluster) =>
        cluster.importImage({ pool, name, labels: labelsOf(place, name), file, format }),
      );
      const sizeGib = Math.ceil(volume.sizeBytes / GIB);
      const ready = { poolId, sha256, volumeId: volume.id, sizeGib };
      await writeWithLease({ sql }, lease, (tx) => updatePoolImageReady(tx, ready));
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  };

  const start = (key: string, wanted: Import) => {
    const { image, place } = wanted;
    const facts = { image: image.name, pool: place.pool };
    log.info(facts, 'importing an image into a storage pool');
    const run = importImage(wanted)
      .then(
        () => log.info(facts, 'image imported'),
        async (error: unknown) => {
          failedAtMs.set(key, performance.now());
          log.warn({ ...facts, error }, 'image not imported; will be retried');
          const { pool_id: poolId } = place;
          const problem = `the image ${image.name} cannot be imported: ${messageOf(error)}`;
          await updatePoolImageProblem(sql, { poolId, sha256: image.sha256, problem }).catch(
            () => {},
          );
        },
      )
      .finally(() => {
        running.delete(key);
        onImported();
      });
    running.set(key, run);
  };

  return {
    async require(wanted) {
      const { place, image } = wanted;
      const poolId = place.pool_id;
      const known = await readPoolImage(sql, { poolId, sha256: image.sha256 });
      if (known && known.volume_id !== '') return volumeNameOf(image);
      const key = `${poolId} ${image.sha256}`;
      const failedMs = failedAtMs.get(key) ?? Number.NEGATIVE_INFINITY;
      if (!running.has(key) && performance.now() > failedMs + RETRY_MS) start(key, wanted);
      throw new ImageMissing(known?.problem || `the image ${image.name} is being imported`);
    },
    async stop() {
      stopping.abort();
      await Promise.all(running.values());
    },
  };
}

function volumeNameOf({ sha256 }: Image): string {
  return `image-${sha256}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
