import type { JoinTokenRow } from '@gantry/db/queries/hosts/join-tokens';
import type { Deps } from '../../deps.ts';
import { joinCommands, joinLine } from '../../join/join-commands.ts';

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
export function newJoinTokenView(
  made: { row: JoinTokenRow; secret: string; caSha256: string },
  { joining, baseUrl }: Pick<Deps, 'joining' | 'baseUrl'>,
) {
  const { used_at: _unused, ...shown } = joinTokenView(made.row);
  const { secret: token, caSha256 } = made;
  const joins = { settings: joining, publicUrl: baseUrl(), token, caSha256 };
  return {
    ...{ ...shown, token, ca_sha256: caSha256 },
    ...{ join_line: joinLine(joins), join_commands: joinCommands(joins) },
  };
}
