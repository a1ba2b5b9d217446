import type { AccessKeyRow } from '@gantry/db/queries/tenants/access-keys';

export function accessKeyView(row: AccessKeyRow) {
  return {
    id: row.id,
    name: row.name,
    role: row.role,
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at?.toISOString() ?? '',
    created_by: row.created_by ?? '',
    creator: row.creator ?? '',
    created_with_key: row.parent_id ?? '',
    last_used_at: row.last_used_at?.toISOString() ?? '',
    last_used_ip: row.last_used_ip,
    tags: row.tags,
  };
}
