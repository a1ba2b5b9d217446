import type { AccessKeyRow } from '@gantry/db/queries/tenants/access-keys';

export function accessKeyView(row: AccessKeyRow) {
  return {
    id: row.id,
    name: row.name,
    role: row.role,
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at?.toISOString() ?? '',
  };
}
