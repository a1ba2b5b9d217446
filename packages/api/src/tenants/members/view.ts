import type { MemberRow } from '@gantry/db/queries/tenants/members';

export function memberView(row: MemberRow) {
  return {
    id: row.id,
    user_id: row.user_id,
    email: row.email,
    role: row.role,
    project_id: row.project_id ?? '',
    created_at: row.created_at.toISOString(),
  };
}
