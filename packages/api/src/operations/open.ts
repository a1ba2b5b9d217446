import type { Queryable } from '@gantry/db/connect';
import { type NewOperation, readUnfinishedOperation } from '@gantry/db/queries/operations';
import { CloudError } from '@gantry/model/errors';
import { newId } from '@gantry/model/ids';
import type { OperationName, ResourceType } from '@gantry/model/states';

type Opening = {
  projectId: string;
  resourceType: ResourceType;
  resourceId: string;
  name: OperationName;
  request: object;
  now: Date;
  /** After this an unfinished operation is failed and what was half built is removed. */
  deadlineAt: Date;
};

export function openOperation({
  projectId,
  resourceType,
  resourceId,
  name,
  request,
  now,
  deadlineAt,
}: Opening): NewOperation {
  return {
    id: newId(now.getTime()),
    project_id: projectId,
    resource_type: resourceType,
    resource_id: resourceId,
    name,
    state: 'IN_PROGRESS',
    request,
    result: null,
    started_at: now,
    completed_at: null,
    deadline_at: deadlineAt,
  };
}

/** An operation that needs no host is done when it is recorded. */
export function finished(operation: NewOperation, result: object): NewOperation {
  return { ...operation, state: 'SUCCEEDED', result, completed_at: operation.started_at };
}

/**
 * Refuses a second write while the first is under way, before the state of the resource is looked
 * at. The database's unique index says the same where two such requests race.
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
