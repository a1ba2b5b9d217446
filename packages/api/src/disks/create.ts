import type { Queryable } from '@gantry/db/connect';
import { insertDisk } from '@gantry/db/queries/disks';
import { insertOperation, type NewOperation } from '@gantry/db/queries/operations';
import { parseDiskSizeGib } from '@gantry/model/disk-size';
import { unknownLocation } from '@gantry/model/errors';
import { newId } from '@gantry/model/ids';
import type { z } from '@hono/zod-openapi';
import { openOperation } from '../operations/open.ts';
import { diskSerialNumber } from './disk-serial-number.ts';
import type { CreateDisk } from './schema.ts';

type Creation = {
  sql: Queryable;
  projectId: string;
  body: z.output<typeof CreateDisk>;
  now: Date;
  deadlineAt: Date;
};

/** Writes down that a disk is wanted. Quotas and names are the database's to check. */
export async function createDisk({
  sql,
  projectId,
  body,
  now,
  deadlineAt,
}: Creation): Promise<NewOperation> {
  const id = newId(now.getTime());
  const known = await insertDisk(sql, {
    id,
    projectId,
    name: body.name,
    type: body.type,
    location: body.location,
    size: body.size,
    sizeGib: sizeGib(body.size),
    blockSize: body.block_size,
    serialNumber: diskSerialNumber(id),
    at: now,
  });
  if (!known) {
    throw unknownLocation(body.location);
  }
  const operation = openOperation({
    projectId,
    resourceType: 'disk',
    resourceId: id,
    name: 'CREATE',
    request: body,
    now,
    deadlineAt,
  });
  await insertOperation(sql, operation);
  return operation;
}

export function sizeGib(size: string): number {
  const gib = parseDiskSizeGib(size);
  if (gib === undefined) throw new Error('BUG: the schema lets no other size pass');
  return gib;
}
