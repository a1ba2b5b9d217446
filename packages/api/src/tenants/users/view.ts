import type { UserRow } from '@gantry/db/queries/tenants/users';

export function userView(row: UserRow) {
  return {
    id: row.id,
    email: row.email,
    operator: row.operator,
    operator_role: row.operator ? row.operator_role : '',
    pending: row.pending,
    created_at: row.created_at.toISOString(),
  };
}
