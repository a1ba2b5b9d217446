import type { JoinTokenRow } from '@gantry/db/queries/join-tokens';

export function joinTokenView(row: JoinTokenRow) {
  return {
    id: row.id,
    location: row.location,
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
    used_at: row.used_at?.toISOString() ?? '',
  };
}
