import type { Queryable } from '@gantry/db/connect';
import {
  insertVmType,
  replaceVmTypeLocations,
  updateVmType,
} from '@gantry/db/queries/admin-catalogue';
import { listVmTypes, type VmTypeRow } from '@gantry/db/queries/catalogue';
import { notFound } from '@gantry/model/errors';
import type { z } from '@hono/zod-openapi';
import type { ChangeVmType, CreateVmType } from './admin-schema.ts';
import { requireLocations } from './require-locations.ts';

export async function createVmType(
  sql: Queryable,
  { locations, ...type }: z.output<typeof CreateVmType>,
): Promise<VmTypeRow> {
  await requireLocations(sql, locations);
  await insertVmType(sql, type);
  await replaceVmTypeLocations(sql, { name: type.name, locations });
  return await readVmType(sql, type.name);
}

type Change = { name: string; body: z.output<typeof ChangeVmType> };

/** What a type consists of never changes: VMs were placed and are billed by it. */
export async function changeVmType(sql: Queryable, { name, body }: Change): Promise<VmTypeRow> {
  const { locations } = body;
  const found = await updateVmType(sql, {
    name,
    description: body.description ?? null,
    retired: body.retired ?? null,
    may_split: body.may_split ?? null,
  });
  if (!found) throw notFound('VM type');
  if (locations) {
    await requireLocations(sql, locations);
    await replaceVmTypeLocations(sql, { name, locations });
  }
  return await readVmType(sql, name);
}

async function readVmType(sql: Queryable, name: string): Promise<VmTypeRow> {
  const type = (await listVmTypes(sql, { retired: true })).find((row) => row.name === name);
  if (!type) throw new Error('BUG: a VM type just written can be read');
  return type;
}
