/**
 * How an operation ends. The api opens operations; every operation ends through one of these
 * functions:
 *
 * | function               | used when                                                            |
 * | ---------------------- | -------------------------------------------------------------------- |
 * | `succeededOperation`   | the api finishes a change that needs no host                         |
 * | `succeedOperation`     | a host reported the requested result, or no host had to do anything  |
 * | `succeedVmOperation`   | the same, with the VM as it is now as the result                     |
 * | `failOperation`        | a host reported a failure, or its host was fenced                    |
 * | `failVm`               | a VM cannot be brought up: its operation fails and the VM settles    |
 * | `failOverdueOperation` | the deadline has passed                                              |
 * | `supersedeOperation`   | a DELETE replaces the operation                                      |
 *
 * The owner of the pool learns of every end by `watchOperationEnds`.
 *
 * All of them change only an operation that is IN_PROGRESS: the first end of an operation is final.
 * A resource has at most one such operation, so a resource id identifies it. Callers hold the lock of
 * the resource.
 */
import type { Queryable } from '../../connect.ts';
import { noteOperationEnds, type OperationEnd } from '../../operation-ends.ts';
import type { NewOperation } from '../operations/operations.ts';
import { vmView } from '../vms/vm-view.ts';
import { readVm } from '../vms/vms.ts';

/** The result of a failed operation, as tenants see it. */
export type OperationFailure = { code: string; message: string; details?: object };

/** A host, or the lack of a reply from it, is the cause of the failure. */
export function hostFailure(message: string, details: object = {}): OperationFailure {
  return { code: 'host_failed', message, details };
}

/** Returns the operation as succeeded at the moment at which it was opened. Writes nothing. */
export function succeededOperation(operation: NewOperation, result: object): NewOperation {
  return { ...operation, state: 'SUCCEEDED', result, completed_at: operation.started_at };
}

export async function succeedOperation(
  sql: Queryable,
  { resourceId, result }: { resourceId: string; result: object },
): Promise<void> {
  const ends = await sql<OperationEnd[]>`update operations
    set state = 'SUCCEEDED', result = ${sql.json({ ...result })}, completed_at = now()
    where resource_id = ${resourceId} and state = 'IN_PROGRESS' returning ${endOf(sql)}`;
  noteOperationEnds(sql, ends);
}

/** Does nothing if the VM does not exist. */
export async function succeedVmOperation(
  sql: Queryable,
  vm: { id: string; project_id: string },
): Promise<void> {
  const row = await readVm(sql, { projectId: vm.project_id, vmId: vm.id });
  if (row) await succeedOperation(sql, { resourceId: vm.id, result: vmView(row) });
}

export async function failOperation(
  sql: Queryable,
  { resourceId, failure }: { resourceId: string; failure: OperationFailure },
): Promise<void> {
  await fail(sql, { where: sql`resource_id = ${resourceId}`, failure });
}

/**
 * Fails the operation that should bring the VM up, and ends its power action. A VM that never ran
 * becomes abandoned and is removed. A VM that ran before keeps its observed state (`keep`), or is in
 * error if a host may have left parts of it behind (`error`). Returns false and changes nothing if
 * the tenant has requested something else since `generation`.
 */
export async function failVm(
  sql: Queryable,
  {
    vmId,
    generation,
    failure,
    after,
  }: {
    vmId: string;
    generation: number | string;
    failure: OperationFailure;
    after: 'keep' | 'error';
  },
): Promise<boolean> {
  const { count } = await sql`update vms set observed_generation = generation, updated_at = now(),
      abandoned = abandoned or observed_state = 'none',
      observed_state = case when observed_state <> 'none' and ${after === 'error'} then 'failed' else observed_state end
    where id = ${vmId} and generation = ${generation} and desired_state = 'running' and not abandoned`;
  if (count === 0) return false;
  await failOperation(sql, { resourceId: vmId, failure });
  return true;
}

/** By the operation's own id, because the resource may have a newer operation. */
export async function failOverdueOperation(
  sql: Queryable,
  { operationId, failure }: { operationId: string; failure: OperationFailure },
): Promise<void> {
  await fail(sql, { where: sql`id = ${operationId}`, failure });
}

/** The operation of a VM ends as cancelled because a DELETE replaces it. */
export async function supersedeOperation(sql: Queryable, operationId: string): Promise<void> {
  const failure = {
    code: 'cancelled',
    message: 'the VM was deleted before this operation ended',
  };
  await fail(sql, { where: sql`id = ${operationId}`, failure });
}

async function fail(
  sql: Queryable,
  { where, failure }: { where: ReturnType<Queryable>; failure: OperationFailure },
): Promise<void> {
  const { code, message, details } = failure;
  const ends = await sql<
    OperationEnd[]
  >`update operations set state = 'FAILED', completed_at = now(),
      result = ${sql.json({ code, message, details: { ...details } })}
    where ${where} and state = 'IN_PROGRESS' returning ${endOf(sql)}`;
  noteOperationEnds(sql, ends);
}

/** Times are those at which the operation began and ended by the database's clock. */
const endOf = (sql: Queryable) => sql`id, name, resource_type, resource_id, project_id, state,
  case when state = 'FAILED' then result ->> 'code' end as code, recorded_at as started_at, completed_at`;
