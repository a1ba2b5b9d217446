import type { Queryable } from '@gantry/db/connect';
import { openInterval } from '@gantry/db/queries/usage/meter';
import { diskView } from '@gantry/db/queries/vms/disk-view';
import { type DiskRow, insertAttachment, lockDisks, readDisk } from '@gantry/db/queries/vms/disks';
import {
  listDiskPlaces,
  listTakenDiskNames,
  readRegion,
  updateDiskCreatedWith,
} from '@gantry/db/queries/vms/new-vm-disks';
import { badRequest, CloudError } from '@gantry/model/errors';
import { newId } from '@gantry/model/ids';
import type { z } from '@hono/zod-openapi';
import { requireUsableDisk } from '../disks/change.ts';
import { insertNewDisk } from '../disks/create.ts';
import { CreateDisk } from '../disks/schema.ts';
import { sizeGib } from '../disks/size.ts';
import {
  recordSucceededOperation,
  requireNoOperation,
  startOperation,
} from '../operations/open.ts';
import { requireLocation, requireUnattached } from './attach-disks.ts';
import type { NewVmDisks } from './new-disk-schema.ts';

type WantedDisks = z.output<typeof NewVmDisks>;

type NewVmWithDisks = {
  /** A transaction. */
  sql: Queryable;
  organizationId: string;
  projectId: string;
  vmId: string;
  location: string;
  disks: WantedDisks;
};

/**
 * Locks the existing disks of a new VM, and throws if one of its disks cannot be attached or created. The caller
 * inserts the VM afterwards: disks are locked before quotas.
 */
export async function requireUsableDisks(creation: NewVmWithDisks): Promise<DiskRow[]> {
  const { sql, projectId, vmId, location, disks } = creation;
  const diskIds = disks.flatMap(({ disk_id }) => disk_id ?? []);
  const found = await lockDisks(sql, { projectId, diskIds });
  for (const [index, { disk_id, mode }] of disks.entries()) {
    if (disk_id === undefined) continue;
    const field = `disks.${index}.disk_id`;
    const disk = found.find(({ id }) => id === disk_id);
    if (!disk) throw badRequest([{ field, reason: 'is not a disk of this project' }]);
    await namingField(field, async () => {
      await requireNoOperation(sql, disk_id);
      requireUsableDisk(disk);
      requireLocation(disk, location);
      requireUnattached(disk, { vmId, mode });
    });
  }
  await requireOneHost(sql, disks);
  await requireFreeNames(creation);
  return found;
}

/** Creates the new disks of an inserted VM, and attaches all its disks. */
export async function addDisks(
  creation: NewVmWithDisks & { existing: readonly DiskRow[]; now: Date; deadlineMs: number },
): Promise<void> {
  const { sql, vmId, disks, existing } = creation;
  for (const wanted of disks) {
    const { disk_id, mode } = wanted;
    const { id, type } =
      existing.find((disk) => disk.id === disk_id) ?? (await addNewDisk(creation, wanted));
    const exclusive = mode === 'read-write' && type !== 'shared-volume';
    await insertAttachment(sql, { vmId, diskId: id, mode, exclusive });
  }
}

/**
 * A disk that no host has to create yet exists at once, so its operation has succeeded and its metering begins. That is
 * not left to the scheduler, which would have to tell it from a disk that the host of the VM creates. A disk in a storage
 * cluster exists when the scheduler has created its volume, so its operation is unfinished.
 */
async function addNewDisk(
  creation: Parameters<typeof addDisks>[0],
  { disk_id: _, mode: __, ...wanted }: WantedDisks[number],
) {
  const { sql, organizationId, projectId, vmId, location, now, deadlineMs } = creation;
  const body = CreateDisk.parse({ ...wanted, location });
  const id = newId(now.getTime());
  await insertNewDisk(sql, { id, projectId, body, now });
  const exists = await updateDiskCreatedWith(sql, { diskId: id, vmId });
  const opening = { projectId, resourceType: 'disk', resourceId: id, name: 'CREATE' } as const;
  const operation = { ...opening, request: body, now, deadlineMs };
  if (!exists) {
    await startOperation(sql, operation);
    return { id, type: body.type };
  }
  await openInterval(sql, {
    ...{ organizationId, projectId, resourceId: id, region: await readRegion(sql, location) },
    metered: { metric: 'gb_hours', diskType: body.type, sizeGb: sizeGib(body.size) },
  });
  const row = await readDisk(sql, { projectId, diskId: id });
  if (!row) throw new Error('BUG: an inserted disk is missing');
  await recordSucceededOperation(sql, operation, diskView(row));
  return { id, type: body.type };
}

/** Adds the field to an error about its value. */
async function namingField(field: string, check: () => Promise<void>): Promise<void> {
  try {
    await check();
  } catch (error) {
    throw error instanceof CloudError ? fieldError(error.code, field, error.message) : error;
  }
}

function fieldError(code: CloudError['code'], field: string, reason: string): CloudError {
  return new CloudError(code, `${field}: ${reason}`, { details: [{ field, reason }] });
}

/** No host could run the VM if its disks were on different ones. Hosts with shared storage count as one. */
async function requireOneHost(sql: Queryable, disks: WantedDisks): Promise<void> {
  const places = await listDiskPlaces(
    sql,
    disks.flatMap(({ disk_id }) => disk_id ?? []),
  );
  const stored = disks.flatMap(({ disk_id }, index) => {
    const place = places.find(({ id }) => id === disk_id);
    if (!place || place.host_id === null) return [];
    return [{ index, host: place.shared_storage ? 'shared' : place.host_id }];
  });
  const [first, ...others] = stored;
  const other = others.find(({ host }) => host !== first?.host);
  if (!first || !other) return;
  throw fieldError(
    'conflict',
    `disks.${other.index}.disk_id`,
    `is stored on another host than disks.${first.index}.disk_id: a VM can only use disks of one host`,
  );
}

/** The unique index refuses a name that is taken meanwhile. */
async function requireFreeNames({ sql, projectId, disks }: NewVmWithDisks): Promise<void> {
  const names = disks.flatMap(({ name }) => name ?? []);
  const [taken] = names.length > 0 ? await listTakenDiskNames(sql, { projectId, names }) : [];
  if (taken === undefined) return;
  const index = disks.findIndex(({ name }) => name === taken);
  throw fieldError(
    'name_taken',
    `disks.${index}.name`,
    'another disk of the project has this name: choose another',
  );
}
