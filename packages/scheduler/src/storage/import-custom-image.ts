import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StorageError } from '@gantry/ceph/storage-error';
import { AddressRefused } from '@gantry/daemon/address-rules';
import { GIB } from '@gantry/daemon/units';
import type { UnsettledImage } from '@gantry/db/queries/storage/image-work';
import { fetchImage } from './fetch-image.ts';
import { labelsOf } from './lease-writes.ts';
import type { VolumeContext } from './volume-context.ts';

/** A slow server must not keep the place of others. The deadline of the operation grows in the same way. */
const LIMIT_MS = 600_000;
const LIMIT_MS_PER_GIB = 20_000;
/** What a file has besides the content of its disk. */
const OVERHEAD_BYTES = GIB;

/**
 * Fetches the file of an image, and imports it into the cluster. A file that cannot be had, or that is not what the tenant
 * said, throws `failed`: the tenant sees the reason and makes another image. An interrupted import leaves no volume.
 */
export async function importCustomImage(
  context: VolumeContext,
  image: UnsettledImage,
  name: string,
): Promise<void> {
  const { pool, cluster_id, format } = image;
  const directory = await mkdtemp(join(tmpdir(), 'gantry-image-'));
  try {
    const file = join(directory, 'image');
    await fetchFile(context, image, file);
    await context.clusters.use(cluster_id, (cluster) =>
      cluster.importImage({
        ...{ pool, name, labels: labelsOf(image, name), file, format },
        ...{ isOfTenant: true, maxBytes: image.size_gib * GIB },
      }),
    );
  } catch (error) {
    if (error instanceof StorageError)
      throw new StorageError(error.code, error.message.replaceAll(directory, '…'));
    throw error;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function fetchFile(
  { imports }: VolumeContext,
  { url, sha256, size_gib, format }: UnsettledImage,
  file: string,
): Promise<void> {
  const limit = AbortSignal.timeout(LIMIT_MS + size_gib * LIMIT_MS_PER_GIB);
  const signal = AbortSignal.any([imports.stopping, limit]);
  const maxBytes = size_gib * GIB + OVERHEAD_BYTES;
  const limits = { signal, rules: imports.rules, maxBytes };
  const found = await fetchImage({ url, sha256 }, file, limits).catch((error: unknown) => {
    // The next holder of the lease begins again.
    if (imports.stopping.aborted) throw new StorageError('unreachable', 'the scheduler stops');
    if (limit.aborted) throw new StorageError('failed', 'the file was not sent in time');
    throw new StorageError('failed', `the file could not be fetched: ${reasonOf(error)}`);
  });
  if (format === 'raw' && found !== 'raw')
    throw new StorageError('failed', `the file has the format ${found}, not ${format}`);
}

/** Messages of connections contain addresses that a tenant is not to learn. */
function reasonOf(error: unknown): string {
  if (error instanceof AddressRefused) return error.message;
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? message;
}
