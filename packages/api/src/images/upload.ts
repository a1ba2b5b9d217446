import type { Queryable } from '@gantry/db/connect';
import {
  lockProjectImage,
  type ProjectImageRow,
  readFileBytes,
  updateImageUploaded,
} from '@gantry/db/queries/images/project-images';
import type { NewOperation } from '@gantry/db/queries/operations/operations';
import { badRequest, CloudError } from '@gantry/model/errors';
import { copyDeadlineMs } from '../disks/from-snapshot.ts';
import { startOperation } from '../operations/open.ts';
import { type ImageTarget, notOwn, opening } from './custom.ts';
import { appendStaged, readStagedBytes } from './staged-files.ts';

type Uploading = ImageTarget & { directory: string | undefined };
type Progress = { received_bytes: number; upload_bytes: number };

function requireUploads(directory: string | undefined): string {
  if (directory !== undefined) return directory;
  throw new CloudError('conflict', 'this installation takes no uploads: give source_url instead');
}

/** Returns how much was received: a client continues there. */
export async function readUpload({ directory, ...target }: Uploading): Promise<Progress> {
  const { uploadBytes } = await requireUploading(target);
  const received = await readStagedBytes(requireUploads(directory), target.imageId);
  return { received_bytes: received, upload_bytes: uploadBytes };
}

/** Appends a chunk. It is on the disk when the reply is sent. */
export async function addChunk(
  { directory, ...target }: Uploading,
  chunk: { offset: number; data: string },
): Promise<Progress> {
  const { imageId } = target;
  const { uploadBytes } = await requireUploading(target);
  const staging = requireUploads(directory);
  const data = Buffer.from(chunk.data, 'base64');
  if (data.length === 0 || data.toString('base64') !== chunk.data)
    throw badRequest([{ field: 'data', reason: 'must be base64 of at least one byte' }]);
  const received = await readStagedBytes(staging, imageId);
  const { offset } = chunk;
  if (offset !== received) {
    const message = `offset: ${received} bytes were received, so the next chunk begins there`;
    const details = { received_bytes: received, upload_bytes: uploadBytes };
    throw new CloudError('conflict', message, { details });
  }
  if (offset + data.length > uploadBytes) {
    const reason = `goes beyond the ${uploadBytes} bytes of the file`;
    throw badRequest([{ field: 'data', reason }]);
  }
  await appendStaged(staging, { imageId, offset, data });
  return { received_bytes: offset + data.length, upload_bytes: uploadBytes };
}

/** The file is complete: a scheduler verifies and imports it. */
export async function finishUpload({ directory, ...target }: Uploading): Promise<NewOperation> {
  const { sql, imageId } = target;
  const { uploadBytes, image } = await requireUploading(target);
  const staging = requireUploads(directory);
  const received = await readStagedBytes(staging, imageId);
  if (received !== uploadBytes) {
    const message = `${received} of ${uploadBytes} bytes were received: send the others first`;
    const details = { received_bytes: received, upload_bytes: uploadBytes };
    throw new CloudError('conflict', message, { details });
  }
  await updateImageUploaded(sql, imageId);
  const deadlineMs = copyDeadlineMs(target.deadlineMs, image.size_gib ?? 0);
  return await startOperation(sql, opening({ ...target, deadlineMs }, 'UPDATE', {}));
}

async function requireUploading(
  target: Pick<ImageTarget, 'projectId' | 'imageId'> & { sql: Queryable },
): Promise<{ image: ProjectImageRow; uploadBytes: number }> {
  const { sql, projectId, imageId } = target;
  const image = await lockProjectImage(sql, { projectId, imageId });
  if (!image) throw await notOwn(target);
  const uploadBytes = await readFileBytes(sql, imageId);
  if (image.state === 'uploading' && uploadBytes !== null) return { image, uploadBytes };
  throw new CloudError('conflict', `the image is ${image.state}: nothing is uploaded to it`);
}
