import type { CreatedToken, JoinTokenRow } from '@gantry/db/queries/hosts/join-tokens';
import type { Deps } from '../../deps.ts';
import { joinCommands, joinLine } from '../../join/join-commands.ts';

export function joinTokenView(row: JoinTokenRow) {
  return {
    ...commonFields(row),
    used_at: row.used_at?.toISOString() ?? '',
    examined_at: row.examined_at?.toISOString() ?? '',
    findings: row.findings,
  };
}

function commonFields(row: CreatedToken) {
  return {
    id: row.id,
    location: row.location,
    host_id: row.rejoins_id ?? '',
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
  };
}

export function newJoinTokenView(
  made: { row: CreatedToken; secret: string; caSha256: string },
  { joining, baseUrl }: Pick<Deps, 'joining' | 'baseUrl'>,
) {
  const { secret: token, caSha256 } = made;
  const joins = { settings: joining, publicUrl: baseUrl(), token, caSha256 };
  return {
    ...{ ...commonFields(made.row), token, ca_sha256: caSha256 },
    ...{ join_line: joinLine(joins), join_commands: joinCommands(joins) },
  };
}
