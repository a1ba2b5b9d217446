import { QUOTA_TYPES, type QuotaType } from '@gantry/model/states';
import type { Queryable } from '../../connect.ts';

export type QuotaRow = { type: QuotaType; max: number; used: number };

/** Lists quotas in the order of QUOTA_TYPES; none if the project does not exist. */
export async function listQuotas(sql: Queryable, projectId: string): Promise<QuotaRow[]> {
  return await sql<QuotaRow[]>`
    select type, max::float8 as max, used::float8 as used from quotas
    where project_id = ${projectId} order by array_position(${[...QUOTA_TYPES]}::text[], type)`;
}

/** Existing resources stay, even if they exceed the new maximum. */
export async function updateQuota(
  sql: Queryable,
  { projectId, type, max }: { projectId: string; type: QuotaType; max: number },
): Promise<void> {
  await sql`update quotas set max = ${max} where project_id = ${projectId} and type = ${type}`;
}
