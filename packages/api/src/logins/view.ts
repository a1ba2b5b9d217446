import type { OpenLoginRow } from '@gantry/db/queries/tenants/open-logins';

export function loginView(row: OpenLoginRow, currentId: string) {
  return {
    id: row.id,
    created_at: row.created_at.toISOString(),
    last_used_at: row.last_used_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
    source_ip: row.source_ip,
    user_agent: row.user_agent,
    current: row.id === currentId,
  };
}
