import type { Queryable } from '@gantry/db/connect';
import {
  insertVmType,
  replaceVmTypeLocations,
  updateVmType,
} from '@gantry/db/queries/catalogue/admin-catalogue';
import { listVmTypes, type VmTypeRow } from '@gantry/db/queries/catalogue/catalogue';
import { notFound } from '@gantry/model/errors';
import type { z } from '@hono/zod-openapi';
import { requireLocations } from './change-locations.ts';
import type { ChangeVmType, CreateVmType } from './schema.ts';

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

/**
 * The resources of a type never change, because VMs were placed by them and are billed for them.
 */
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
  if (!type) throw new Error('BUG: the VM type that was just written is missing');
  return type;
}
