import { type AddressRules, urlProblem } from '@gantry/daemon/address-rules';
import type { Queryable } from '@gantry/db/connect';
import { listLocations } from '@gantry/db/queries/catalogue/catalogue';
import { imageView } from '@gantry/db/queries/images/image-view';
import {
  choosePool,
  insertProjectImage,
  isCatalogueName,
  lockProjectImage,
  type NewProjectImage,
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
  readStoringHost,
  type SnapshotRow,
} from '@gantry/db/queries/snapshots/snapshots';
import { closeInterval } from '@gantry/db/queries/usage/meter';
import { OS_DISK_GIB, OS_DISK_SIZE } from '@gantry/model/disk-size';
import {
  badRequest,
  CloudError,
  notFound,
  outOfStorage,
  unknownLocation,
} from '@gantry/model/errors';
import { newId } from '@gantry/model/ids';
import type { OperationName } from '@gantry/model/states';
import type { z } from '@hono/zod-openapi';
import { copyDeadlineMs } from '../disks/from-snapshot.ts';
import { sizeGib } from '../disks/size.ts';
import { requireExportsOfHost } from '../disks/storing-host.ts';
import {
  recordSucceededOperation,
  requireNoOperation,
  startOperation,
} from '../operations/open.ts';
import { requireReadySnapshot } from '../snapshots/change.ts';
import type { ChangeCustomImage, CreateCustomImage } from './custom-schema.ts';

type Place = { sql: Queryable; projectId: string; now: Date; deadlineMs: number };
export type ImageTarget = Place & { imageId: string };

type Body = z.output<typeof CreateCustomImage>;
type Creation = Place & {
  body: Body;
  networks: AddressRules;
  uploads: string | undefined;
  /** Whether schedulers have an image store, for locations without network storage. */
  hasStore: boolean;
};
/** Where a new image is stored, and what it is made from. */
type Source = Pick<NewProjectImage, 'poolId' | 'location' | 'sizeGib' | 'source'>;

/**
 * Requests an image with the content of a snapshot or of a file. It is a copy, so the snapshot can be deleted
 * afterwards.
 */
export async function createCustomImage(creation: Creation): Promise<NewOperation> {
  const { sql, projectId, body, now } = creation;
  await requireFreeName(sql, body.name);
  const { snapshot_id: snapshotId } = body;
  const source =
    snapshotId === undefined
      ? await requireFileSource(creation)
      : await requireBootableSnapshot(creation, snapshotId);
  const imageId = newId(now.getTime());
  const { name, description, tags, visibility } = body;
  const image = { id: imageId, projectId, name, description, tags, visibility, at: now };
  await insertProjectImage(sql, { ...image, ...source });
  const request = recordedRequest(body);
  // It is made by another operation, after the file was uploaded.
  if (body.upload_bytes !== undefined)
    return await recordChange({ ...creation, imageId }, 'CREATE', request);
  const deadlineMs = copyDeadlineMs(creation.deadlineMs, source.sizeGib);
  return await startOperation(
    sql,
    opening({ ...creation, imageId, deadlineMs }, 'CREATE', request),
  );
}

/** The request as the operation shows it to members of the project. The query of a URL is often a signature that grants access. */
function recordedRequest(body: Body): object {
  const { source_url: url } = body;
  return url === undefined ? body : { ...body, source_url: url.replace(/\?.*$/s, '?…') };
}

const NO_STORE =
  'this installation has no image store: its operators have to set GANTRY_IMAGE_STORE_DIRECTORY';

async function requireFileSource(creation: Creation): Promise<Source> {
  const { sql, body, networks, uploads, hasStore } = creation;
  const { source_url: url = '', location = '', size = '', format = 'raw', sha256 = '' } = body;
  const { upload_bytes: fileBytes } = body;
  if (fileBytes !== undefined && uploads === undefined) {
    const reason = 'this installation takes no uploads: give source_url instead';
    throw badRequest([{ field: 'upload_bytes', reason }]);
  }
  const problem = fileBytes === undefined && urlProblem(url, networks);
  if (problem) throw badRequest([{ field: 'source_url', reason: problem }]);
  const known = await listLocations(sql);
  if (!known.some(({ name }) => name === location)) throw unknownLocation(location);
  const gib = sizeGib(size);
  const poolId = await choosePool(sql, { location, sizeGib: gib });
  if (poolId === null && !hasStore) {
    const reason = `"${location}" has no network storage, and ${NO_STORE}`;
    throw badRequest([{ field: 'location', reason }]);
  }
  const source = fileBytes === undefined ? { url, sha256, format } : { fileBytes, sha256, format };
  return { poolId, location, sizeGib: gib, source };
}

/** An image of the catalogue has precedence over others of its name, so the new one could not be used by its name. */
async function requireFreeName(sql: Queryable, name: string): Promise<void> {
  if (!(await isCatalogueName(sql, name))) return;
  const message = `the catalogue has an image with the name "${name}": choose another`;
  throw new CloudError('name_taken', message);
}

/** Locks the snapshot and throws if no VM could start from a copy of it. */
async function requireBootableSnapshot(
  { sql, projectId, hasStore }: Creation,
  snapshotId: string,
): Promise<Source> {
  const snapshot = await lockSnapshot(sql, { projectId, snapshotId, shared: true });
  const refuse = (reason: string) => badRequest([{ field: 'snapshot_id', reason }]);
  if (!snapshot) throw refuse('is not a snapshot of this project');
  if (snapshot.encrypted)
    throw refuse('is of an encrypted disk: images are not encrypted, so none is made of it');
  if (snapshot.disk_type !== 'persistent-ssd')
    throw refuse(`is of a ${snapshot.disk_type}: OS disks are persistent-ssd`);
  if (snapshot.block_size !== 512)
    throw refuse(`is of a disk with blocks of ${snapshot.block_size} bytes: OS disks have 512`);
  if (snapshot.size_gib > OS_DISK_GIB)
    throw refuse(`has ${snapshot.size_gib}GiB: OS disks have ${OS_DISK_SIZE}`);
  requireReadySnapshot(snapshot);
  const { pool_id: poolId, location, disk_type: diskType, size_gib: gib } = snapshot;
  if (poolId === null && !hasStore) throw refuse(`is stored on a host, and ${NO_STORE}`);
  if (poolId !== null && !(await hasPoolRoom(sql, { poolId, gib })))
    throw outOfStorage({ location, diskType, gib });
  const hostId = poolId === null ? await requireExport(sql, snapshot) : null;
  return { poolId, location, sizeGib: gib, source: { snapshotId, hostId } };
}

/** Returns the host that has to send the content of a snapshot. */
async function requireExport(sql: Queryable, { host_id: hostId }: SnapshotRow): Promise<string> {
  return requireExportsOfHost(hostId === null ? null : await readStoringHost(sql, hostId)).id;
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
 * The image is gone for tenants at once, and its metering ends. A scheduler removes its content when no VM has the
 * image any more.
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

/** Why an image of this id cannot be changed. */
export async function notOwn({
  sql,
  projectId,
  imageId,
}: Pick<ImageTarget, 'sql' | 'projectId' | 'imageId'>): Promise<CloudError> {
  if (!(await readProjectImage(sql, { projectId, imageId }))) return notFound('image');
  const message =
    'the image is of the catalogue or of another project, which alone can change or delete it';
  return new CloudError('forbidden', message);
}

export function opening(target: ImageTarget, name: OperationName, request: object) {
  const { projectId, imageId: resourceId, now, deadlineMs } = target;
  const resourceType = 'image' as const;
  return { projectId, resourceType, resourceId, name, request, now, deadlineMs };
}
