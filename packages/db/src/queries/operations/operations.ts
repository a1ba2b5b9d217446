import type { OperationName, OperationState, ResourceType } from '@gantry/model/states';
import type { Queryable } from '../../connect.ts';
import { LAST_ID } from '../page-bounds.ts';

export type OperationRow = {
  id: string;
  resource_type: ResourceType;
  resource_id: string;
  name: OperationName;
  state: OperationState;
  request: object;
  result: object | null;
  started_at: Date;
  completed_at: Date | null;
};

/** The deadline counts from the insert, by the database's clock. */
export type NewOperation = OperationRow & { project_id: string; deadline_ms: number };

const columns = (sql: Queryable) =>
  sql`id, resource_type, resource_id, name, state, request, result, started_at, completed_at`;

/** Returns the insert as a WITH member, for writes that are one statement. */
export function insertOperationCte(sql: Queryable, operation: NewOperation) {
  return sql`operation as (insert into operations
    (id, project_id, resource_type, resource_id, name, state, request, result, started_at, completed_at, deadline_at)
    values (${operation.id}, ${operation.project_id}, ${operation.resource_type}, ${operation.resource_id},
      ${operation.name}, ${operation.state}, ${sql.json({ ...operation.request })},
      ${operation.result && sql.json({ ...operation.result })}, ${operation.started_at}, ${operation.completed_at},
      now() + ${operation.deadline_ms} * interval '1 millisecond'))`;
}

export async function insertOperation(sql: Queryable, operation: NewOperation): Promise<void> {
  await sql`with ${insertOperationCte(sql, operation)} select`;
}

export type OperationKey = { projectId: string; resourceType: ResourceType; operationId: string };

export async function readOperation(
  sql: Queryable,
  key: OperationKey,
): Promise<OperationRow | undefined> {
  const [row] = await sql<OperationRow[]>`
    select ${columns(sql)} from operations
    where id = ${key.operationId} and project_id = ${key.projectId} and resource_type = ${key.resourceType}`;
  return row;
}

export type OperationFilter = {
  projectId: string;
  resourceType: ResourceType;
  resourceId: string | null;
  state: OperationState | null;
  /** The last id of the previous page. Lists have the newest first. */
  before: string | null;
  limit: number;
};

export async function listOperations(
  sql: Queryable,
  filter: OperationFilter,
): Promise<OperationRow[]> {
  return await sql<OperationRow[]>`
    select ${columns(sql)} from operations
    where project_id = ${filter.projectId} and resource_type = ${filter.resourceType}
      and (${filter.resourceId}::uuid is null or resource_id = ${filter.resourceId})
      and (${filter.state}::text is null or state = ${filter.state})
      and id < ${filter.before ?? LAST_ID}
    order by id desc limit ${filter.limit}`;
}

export async function readUnfinishedOperation(
  sql: Queryable,
  resourceId: string,
): Promise<{ id: string; name: OperationName } | undefined> {
  const [row] = await sql<{ id: string; name: OperationName }[]>`
    select id, name from operations where resource_id = ${resourceId} and state = 'IN_PROGRESS'`;
  return row;
}
