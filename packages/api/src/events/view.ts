import type { EventRow } from '@gantry/db/queries/operations/events';

export function eventView(row: EventRow) {
  return {
    id: row.id,
    type: row.type,
    message: row.message,
    resource_type: row.resource_type,
    resource_id: row.resource_id,
    created_at: row.created_at.toISOString(),
  };
}

export function adminEventView(row: EventRow) {
  return { ...eventView(row), project_id: row.project_id };
}
