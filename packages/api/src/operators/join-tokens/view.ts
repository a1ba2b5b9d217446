import type { JoinTokenRow } from '@gantry/db/queries/hosts/join-tokens';

export function joinTokenView(row: JoinTokenRow) {
  return {
    id: row.id,
    location: row.location,
    host_id: row.rejoins_id ?? '',
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
    used_at: row.used_at?.toISOString() ?? '',
  };
}

/** The view of a new token, with its secret and the hash of the CA certificate. */
export function newJoinTokenView(made: { row: JoinTokenRow; secret: string; caSha256: string }) {
  const { used_at: _unused, ...shown } = joinTokenView(made.row);
  return { ...shown, token: made.secret, ca_sha256: made.caSha256 };
}
