import {
  OPERATION_STATES,
  type OperationName,
  type OperationState,
  type ResourceType,
} from '@gantry/model/states';
import type postgres from 'postgres';
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
export type NewOperation = OperationRow & {
  project_id: string;
  deadline_ms: number;
  /** A VM of this type may need more time. */
  vm_type?: string | undefined;
};

/** The deadline is enough for VMs up to this size. */
const ORDINARY = { memoryGb: 128, devices: 2 };

/**
 * Members of a request that the row of the VM has and the operation does not store: they can be secret
 * and large, and an operation outlives its VM. While a creation is unfinished its operation echoes them
 * from the VM, so they leave it in the transaction that ends it, whichever function that is.
 */
const HELD_BY_VM: ReadonlySet<string> = new Set([
  'ssh_public_key',
  'ssh_keys',
  'startup_script',
  'shutdown_script',
  'user_data',
]);

type StoredRow = OperationRow & { held: object | null };

const columns = (sql: Queryable) =>
  sql`o.id, o.resource_type, o.resource_id, o.name, o.state, o.request, o.result, o.started_at, o.completed_at,
    case when o.state = 'IN_PROGRESS' and o.name = 'CREATE' and o.resource_type = 'vm' then
      (select json_strip_nulls(json_build_object('ssh_public_key', nullif(v.ssh_public_key, ''), 'ssh_keys', nullif(v.ssh_keys, '{}'),
          'startup_script', nullif(v.startup_script, ''), 'shutdown_script', nullif(v.shutdown_script, ''),
          'user_data', nullif(v.user_data, '')))
        from vms v where v.id = o.resource_id) end as held`;

/** Operations of earlier versions have stored these members, so they are left out here too. */
function withoutHeld({ request }: { request: object }): object {
  return Object.fromEntries(Object.entries(request).filter(([name]) => !HELD_BY_VM.has(name)));
}

function fromStored<Stored extends StoredRow>({ held, ...row }: Stored): Omit<Stored, 'held'> {
  return { ...row, request: { ...withoutHeld(row), ...held } };
}

/** Returns the insert as a WITH member, for writes that are one statement. */
export function insertOperationCte(sql: Queryable, operation: NewOperation) {
  return sql`operation as (insert into operations
    (id, project_id, resource_type, resource_id, name, state, request, result, started_at, completed_at, deadline_at)
    values (${operation.id}, ${operation.project_id}, ${operation.resource_type}, ${operation.resource_id},
      ${operation.name}, ${operation.state}, ${sql.json({ ...withoutHeld(operation) })},
      ${operation.result && sql.json({ ...operation.result })}, ${operation.started_at}, ${operation.completed_at},
      now() + ${operation.deadline_ms} * interval '1 millisecond' ${moreTime(sql, operation)}))`;
}

/** These end when the drives of the VM are erased. */
const ERASING: ReadonlySet<OperationName> = new Set(['STOP', 'DELETE']);

/** A host erases the drives of a VM of the type `t` at the same time, at 1 GB/s or more. */
export function erasingTime(sql: Queryable) {
  return sql`coalesce(t.disk_gb / nullif(t.disk_count, 0), 0) * interval '1 second'`;
}

/**
 * A host clears and locks the memory of a VM and resets its devices, which takes as long as they are
 * large. The limits of the agent for these calls grow by the same amounts.
 */
function moreTime(sql: Queryable, { vm_type, name }: NewOperation) {
  if (vm_type === undefined) return sql``;
  const erasing = ERASING.has(name) ? sql`+ ${erasingTime(sql)}` : sql``;
  return sql`+ coalesce((select greatest(0, t.memory_gb - ${ORDINARY.memoryGb}::int) * interval '2 seconds'
      + greatest(0, t.gpu_count + t.disk_count - ${ORDINARY.devices}::int) * interval '15 seconds' ${erasing}
    from vm_types t where t.name = ${vm_type}), interval '0')`;
}

export async function insertOperation(sql: Queryable, operation: NewOperation): Promise<void> {
  await sql`with ${insertOperationCte(sql, operation)} select`;
}

export type OperationKey = { projectId: string; resourceType: ResourceType; operationId: string };

export async function readOperation(
  sql: Queryable,
  key: OperationKey,
): Promise<OperationRow | undefined> {
  const [row] = await sql<StoredRow[]>`
    select ${columns(sql)} from operations o
    where o.id = ${key.operationId} and o.project_id = ${key.projectId} and o.resource_type = ${key.resourceType}`;
  return row && fromStored(row);
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
  const states = filter.state === null ? [...OPERATION_STATES] : [filter.state];
  const inScope = sql`o.project_id = ${filter.projectId} and o.resource_type = ${filter.resourceType}
    and o.id < ${filter.before ?? LAST_ID}`;
  // A page of each state is read from the index, so rare states are found without reading the others. With
  // "=", the planner assumes that the state is a common one, and searches all operations of the project.
  const ids =
    filter.resourceId === null
      ? sql`select page.id from unnest(${states}::text[]) s (state) cross join lateral (select o.id from operations o
          where ${inScope} and o.state between s.state and s.state order by o.state desc, o.id desc
          limit ${filter.limit}) page`
      : sql`select o.id from operations o where o.resource_id = ${filter.resourceId} and ${inScope}
          and o.state = any(${states}::text[])`;
  const rows = await sql<StoredRow[]>`
    select ${columns(sql)} from operations o
    where o.id = any(array(select id from (${ids}) pages order by id desc limit ${filter.limit}))
    order by o.id desc`;
  return rows.map(fromStored);
}

export type OperationOfTenant = OperationRow & { project_id: string; organization_id: string };

/** Reads the operations whose ids a query selects, newest first. */
export async function readSelectedOperations(
  sql: Queryable,
  ids: postgres.PendingQuery<postgres.Row[]>,
): Promise<OperationOfTenant[]> {
  const rows = await sql<(OperationOfTenant & StoredRow)[]>`
    select ${columns(sql)}, o.project_id, p.organization_id from operations o join projects p on p.id = o.project_id
    where o.id = any(array(${ids})) order by o.id desc`;
  return rows.map(fromStored);
}

export async function readUnfinishedOperation(
  sql: Queryable,
  resourceId: string,
): Promise<{ id: string; name: OperationName } | undefined> {
  const [row] = await sql<{ id: string; name: OperationName }[]>`
    select id, name from operations where resource_id = ${resourceId} and state = 'IN_PROGRESS'`;
  return row;
}
