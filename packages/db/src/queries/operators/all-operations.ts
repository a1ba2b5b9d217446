import {
  OPERATION_STATES,
  type OperationName,
  type OperationState,
  RESOURCE_TYPES,
  type ResourceType,
} from '@gantry/model/states';
import type { Queryable } from '../../connect.ts';
import { firstId } from '../maintenance/remove-history.ts';
import { type OperationOfTenant, readSelectedOperations } from '../operations/operations.ts';
import { LAST_ID } from '../page-bounds.ts';
import { pageOfAll, projectsInScope, type TenantScope } from './page-of-all.ts';

export type AllOperationsFilter = TenantScope & {
  ids: string[] | null;
  resourceType: ResourceType | null;
  resourceId: string | null;
  name: OperationName | null;
  state: OperationState | null;
  /** The last id of the previous page. */
  before: string | null;
  limit: number;
};

/** Lists operations of all tenants, newest first. */
export async function listAllOperations(
  sql: Queryable,
  filter: AllOperationsFilter,
): Promise<OperationOfTenant[]> {
  const { ids, resourceType, resourceId, name, state, limit } = filter;
  const where = sql`r.id < ${filter.before ?? LAST_ID}
    ${ids === null ? sql`` : sql`and r.id = any(${ids}::uuid[])`}
    ${resourceId === null ? sql`` : sql`and r.resource_id = ${resourceId}`}
    ${name === null ? sql`` : sql`and r.name = ${name}`}`;
  return await readSelectedOperations(
    sql,
    pageOfAll(sql, {
      table: 'operations',
      projectIds: await projectsInScope(sql, filter),
      states: state === null ? OPERATION_STATES : [state],
      resourceTypes: resourceType === null ? RESOURCE_TYPES : [resourceType],
      where,
      newestFirst: true,
      limit,
    }),
  );
}

/** Counts the operations that were requested in the last 24 hours and failed. */
export async function countFailedOperations(sql: Queryable): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from operations
    where resource_type = any(${[...RESOURCE_TYPES]}::text[]) and state = 'FAILED' and id > ${firstId(sql, 1)}`;
  return row?.count ?? 0;
}
