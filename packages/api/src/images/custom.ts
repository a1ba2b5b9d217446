import type { Queryable } from '@gantry/db/connect';
import { imageView } from '@gantry/db/queries/images/image-view';
import {
  insertProjectImage,
  isCatalogueName,
  lockProjectImage,
  type ProjectImageRow,
  readOwnImage,
  readProjectImage,
  updateImageDeleted,
  updateProjectImage,
} from '@gantry/db/queries/images/project-images';
import type { NewOperation } from '@gantry/db/queries/operations/operations';
import {
  hasPoolRoom,
  lockSnapshot,
  type SnapshotRow,
} from '@gantry/db/queries/snapshots/snapshots';
import { closeInterval } from '@gantry/db/queries/usage/meter';
import { OS_DISK_GIB, OS_DISK_SIZE } from '@gantry/model/disk-size';
import { badRequest, CloudError, notFound } from '@gantry/model/errors';
import { newId } from '@gantry/model/ids';
import type { OperationName } from '@gantry/model/states';
import type { z } from '@hono/zod-openapi';
import { copyDeadlineMs } from '../disks/from-snapshot.ts';
import {
  recordSucceededOperation,
  requireNoOperation,
  startOperation,
} from '../operations/open.ts';
import { requireReadySnapshot } from '../snapshots/change.ts';
import type { ChangeCustomImage, CreateCustomImage } from './custom-schema.ts';

type Place = { sql: Queryable; projectId: string; now: Date; deadlineMs: number };
export type ImageTarget = Place & { imageId: string };

/** Requests an image with the content of a snapshot. It is a copy, so the snapshot can be deleted afterwards. */
export async function createCustomImage(
  creation: Place & { body: z.output<typeof CreateCustomImage> },
): Promise<NewOperation> {
  const { sql, projectId, body, now } = creation;
  await requireFreeName(sql, body.name);
  const snapshot = await requireBootableSnapshot(creation, body.snapshot_id);
  const imageId = newId(now.getTime());
  const { name, description, tags, visibility } = body;
  await insertProjectImage(sql, {
    ...{ id: imageId, projectId, name, description, tags, visibility, at: now },
    ...{ poolId: snapshot.pool_id, location: snapshot.location, sizeGib: snapshot.size_gib },
    source: { snapshotId: snapshot.id },
  });
  const deadlineMs = copyDeadlineMs(creation.deadlineMs, snapshot.size_gib);
  return await startOperation(sql, opening({ ...creation, imageId, deadlineMs }, 'CREATE', body));
}

/** An image of the catalogue has precedence over others of its name, so the new one could not be used by its name. */
async function requireFreeName(sql: Queryable, name: string): Promise<void> {
  if (!(await isCatalogueName(sql, name))) return;
  const message = `the catalogue has an image with the name "${name}": choose another`;
  throw new CloudError('name_taken', message);
}

/** Locks the snapshot and throws if no VM could start from a copy of it. */
async function requireBootableSnapshot(
  { sql, projectId }: Place,
  snapshotId: string,
): Promise<SnapshotRow> {
  const snapshot = await lockSnapshot(sql, { projectId, snapshotId, shared: true });
  const refuse = (reason: string) => badRequest([{ field: 'snapshot_id', reason }]);
  if (!snapshot) throw refuse('is not a snapshot of this project');
  if (snapshot.disk_type !== 'persistent-ssd')
    throw refuse(`is of a ${snapshot.disk_type}: OS disks are persistent-ssd`);
  if (snapshot.block_size !== 512)
    throw refuse(`is of a disk with blocks of ${snapshot.block_size} bytes: OS disks have 512`);
  if (snapshot.size_gib > OS_DISK_GIB)
    throw refuse(`has ${snapshot.size_gib}GiB: OS disks have ${OS_DISK_SIZE}`);
  requireReadySnapshot(snapshot);
  const room = { poolId: snapshot.pool_id, sizeGib: snapshot.size_gib };
  if (!(await hasPoolRoom(sql, room)))
    throw new CloudError('conflict', 'the storage pool of the snapshot has no room for the image');
  return snapshot;
}

/** Changes what an image says about itself, or who can use it, which succeeds at once. VMs that have it keep it. */
export async function changeCustomImage(
  target: ImageTarget & { body: z.output<typeof ChangeCustomImage> },
): Promise<NewOperation> {
  const { sql, imageId, body } = target;
  await requireIdleImage(target);
  const { description = null, tags = null, visibility = null } = body;
  await updateProjectImage(sql, { imageId, description, tags, visibility });
  return await recordChange(target, 'UPDATE', body);
}

/**
 * The image is gone for tenants at once, and its metering ends. A scheduler removes its volume when no VM has the image
 * any more.
 */
export async function deleteCustomImage(target: ImageTarget): Promise<NewOperation> {
  const { sql, imageId } = target;
  await requireIdleImage(target);
  await updateImageDeleted(sql, imageId);
  await closeInterval(sql, { resourceId: imageId });
  return await recordChange(target, 'DELETE', {});
}

async function recordChange(
  target: ImageTarget,
  name: OperationName,
  request: object,
): Promise<NewOperation> {
  const after = await readOwnImage(target.sql, target.imageId);
  if (!after) throw new Error('BUG: a locked image is missing');
  return await recordSucceededOperation(
    target.sql,
    opening(target, name, request),
    imageView(after),
  );
}

async function requireIdleImage(target: ImageTarget): Promise<ProjectImageRow> {
  const { sql, projectId, imageId } = target;
  const image = await lockProjectImage(sql, { projectId, imageId });
  if (!image) throw await notOwn(target);
  await requireNoOperation(sql, imageId);
  return image;
}

async function notOwn({ sql, projectId, imageId }: ImageTarget): Promise<CloudError> {
  if (!(await readProjectImage(sql, { projectId, imageId }))) return notFound('image');
  const message =
    'the image is of the catalogue or of another project, which alone can change or delete it';
  return new CloudError('forbidden', message);
}

function opening(target: ImageTarget, name: OperationName, request: object) {
  const { projectId, imageId: resourceId, now, deadlineMs } = target;
  const resourceType = 'image' as const;
  return { projectId, resourceType, resourceId, name, request, now, deadlineMs };
}
