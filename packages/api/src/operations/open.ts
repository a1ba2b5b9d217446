import type { Queryable } from '@gantry/db/connect';
import {
  insertOperation,
  type NewOperation,
  readUnfinishedOperation,
} from '@gantry/db/queries/operations/operations';
import { succeededOperation } from '@gantry/db/queries/settle/end-operation';
import { CloudError } from '@gantry/model/errors';
import { newId } from '@gantry/model/ids';
import type { OperationName, ResourceType } from '@gantry/model/states';

type Opening = {
  projectId: string;
  resourceType: ResourceType;
  resourceId: string;
  name: OperationName;
  /** The client's request, which the operation echoes. */
  request: object;
  now: Date;
  /** After this time the scheduler fails the operation if it is unfinished, and cleans up. */
  deadlineMs: number;
  /** The type of the VM that a host has to start or stop: a large one has more time. */
  vmType?: string | undefined;
};

/** Returns the row of a new operation, for a caller that inserts it with another row. */
export function openOperation(opening: Opening): NewOperation {
  return {
    id: newId(opening.now.getTime()),
    project_id: opening.projectId,
    resource_type: opening.resourceType,
    resource_id: opening.resourceId,
    name: opening.name,
    state: 'IN_PROGRESS',
    request: opening.request,
    result: null,
    started_at: opening.now,
    completed_at: null,
    deadline_ms: opening.deadlineMs,
    vm_type: opening.vmType,
  };
}

/** Inserts an operation that a host or the scheduler finishes later. */
export async function startOperation(sql: Queryable, opening: Opening): Promise<NewOperation> {
  const operation = openOperation(opening);
  await insertOperation(sql, operation);
  return operation;
}

/** Inserts an operation that has already succeeded, because the change needs no host. */
export async function recordSucceededOperation(
  sql: Queryable,
  opening: Opening,
  result: object,
): Promise<NewOperation> {
  const operation = succeededOperation(openOperation(opening), result);
  await insertOperation(sql, operation);
  return operation;
}

/**
 * Throws if an operation on the resource is unfinished. Callers check this before they look at the
 * state of the resource. If two requests race, the database's unique index refuses the second one.
 */
export async function requireNoOperation(sql: Queryable, resourceId: string): Promise<void> {
  if (await readUnfinishedOperation(sql, resourceId)) throw operationInProgress();
}

export function operationInProgress(): CloudError {
  return new CloudError(
    'operation_in_progress',
    'an earlier operation on this resource is unfinished: wait for it to end, then try again',
  );
}
