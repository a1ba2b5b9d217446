import type { OperationRow } from '@gantry/db/queries/operations/operations';

export function operationView(row: OperationRow) {
  return {
    operation_id: row.id,
    state: row.state,
    metadata: {
      operation_name: row.name,
      id: row.resource_id,
      type: row.resource_type,
      request: row.request as Record<string, unknown>,
    },
    result: row.result as Record<string, unknown> | null,
    started_at: row.started_at.toISOString(),
    completed_at: row.completed_at?.toISOString() ?? '',
  };
}

/** The reply of a route that starts an operation. */
export function operationReply(row: OperationRow) {
  return { operation: operationView(row) };
}
