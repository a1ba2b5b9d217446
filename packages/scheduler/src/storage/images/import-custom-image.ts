import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { StorageError } from '@gantry/ceph/storage-error';
import { AddressRefused } from '@gantry/daemon/address-rules';
import { GIB } from '@gantry/daemon/units';
import type { ImageWork, UnsettledImage } from '@gantry/db/queries/storage/image-work';
import { fetchImage } from '../fetch-image.ts';
import { labelsOf } from '../lease-writes.ts';
import type { CustomImports, VolumeContext } from '../volume-context.ts';

/** A slow server must not keep the place of others. The deadline of the operation grows in the same way. */
const LIMIT_MS = 600_000;
const LIMIT_MS_PER_GIB = 20_000;
/** What a file has besides the content of its disk. */
const OVERHEAD_BYTES = GIB;

type Importing = { imports: CustomImports };

/**
 * Fetches the file of an image unless it was uploaded, verifies it, and calls `use` with its path. A file that cannot be
 * had, or that is not what the tenant said, throws `failed`: the tenant sees the reason and makes another image.
 */
export async function withImageFile<Result>(
  context: Importing,
  image: ImageWork,
  use: (file: string) => Promise<Result>,
): Promise<Result> {
  const directory = await mkdtemp(join(tmpdir(), 'gantry-image-'));
  try {
    const file =
      image.url === ''
        ? await requireUpload(context, image)
        : await fetchFile(context, image, join(directory, 'image'));
    return await use(file);
  } catch (error) {
    if (error instanceof StorageError)
      throw new StorageError(error.code, withoutPaths(error.message, context, directory));
    throw error;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Imports the file of an image into the cluster. An interrupted import leaves no volume. */
export async function importCustomImage(
  context: VolumeContext,
  image: UnsettledImage,
  name: string,
): Promise<void> {
  const { pool, cluster_id, format } = image;
  await withImageFile(context, image, async (file) => {
    await context.clusters.use(cluster_id, (cluster) =>
      cluster.importImage({
        ...{ pool, name, labels: labelsOf(image, name), file, format },
        ...{ isOfTenant: true, maxBytes: image.size_gib * GIB },
      }),
    );
  });
}

async function fetchFile(
  { imports }: Importing,
  { url, sha256, size_gib, format }: ImageWork,
  file: string,
): Promise<string> {
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
  return file;
}

/** Verifies an uploaded file and returns its path. */
async function requireUpload({ imports }: Importing, { id, sha256 }: ImageWork): Promise<string> {
  if (imports.uploads === undefined) {
    const why = 'this scheduler has no uploads: set GANTRY_IMAGE_UPLOADS_DIRECTORY';
    throw new StorageError('unreachable', why);
  }
  const file = join(imports.uploads, id);
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash, { signal: imports.stopping }).catch(
    (error: NodeJS.ErrnoException) => {
      const code = error.code === 'ENOENT' ? 'failed' : 'unreachable';
      throw new StorageError(code, `the uploaded file cannot be read: ${error.code}`);
    },
  );
  const found = hash.digest('hex');
  if (found === sha256) return file;
  throw new StorageError('failed', `the SHA-256 of the file is ${found} and should be ${sha256}`);
}

/** The file is not needed any more, because the cluster has the image, or because the image was deleted. */
export async function removeUpload({ imports }: Importing, imageId: string): Promise<void> {
  if (imports.uploads !== undefined) await rm(join(imports.uploads, imageId), { force: true });
}

function withoutPaths(message: string, { imports }: Importing, directory: string): string {
  const shown = message.replaceAll(directory, '…');
  return imports.uploads === undefined ? shown : shown.replaceAll(imports.uploads, '…');
}

/** Messages of connections contain addresses that a tenant is not to learn. */
function reasonOf(error: unknown): string {
  if (error instanceof AddressRefused) return error.message;
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? message;
}
