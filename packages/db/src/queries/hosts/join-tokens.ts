import type { HostState } from '@gantry/model/host-states';
import type { Queryable } from '../../connect.ts';
import type { DoctorFinding } from '../../schema/hosts.ts';
import { type IdListing, idOrder, listedByIds } from '../listing.ts';

export type { DoctorFinding };

export type CreatedToken = {
  id: string;
  location: string;
  created_at: Date;
  expires_at: Date;
  /** The host that the token lets come back; null if it is for a new host. */
  rejoins_id: string | null;
};

export type JoinTokenRow = CreatedToken & {
  used_at: Date | null;
  /** What was found on the server that holds the token. */
  findings: DoctorFinding[];
  examined_at: Date | null;
};

export type NewJoinToken = CreatedToken & { hash: string; createdBy: string };

export async function insertJoinToken(sql: Queryable, token: NewJoinToken): Promise<void> {
  await sql`insert into join_tokens (id, hash, location, created_by, created_at, expires_at, rejoins_id)
    values (${token.id}, ${token.hash}, ${token.location}, ${token.createdBy}, ${token.created_at},
      ${token.expires_at}, ${token.rejoins_id})`;
}

const columns = (sql: Queryable) =>
  sql`id, location, created_at, expires_at, used_at, rejoins_id, findings, examined_at`;

export async function listJoinTokens(sql: Queryable, listing: IdListing): Promise<JoinTokenRow[]> {
  return await sql<JoinTokenRow[]>`
    select ${columns(sql)} from join_tokens
    where ${listedByIds(sql, listing)} ${idOrder(sql, listing)}`;
}

/** A token that a host uses at the same moment is not removed. */
export async function removeUnusedJoinToken(
  sql: Queryable,
  joinTokenId: string,
): Promise<JoinTokenRow | undefined> {
  const [row] = await sql<JoinTokenRow[]>`
    delete from join_tokens where id = ${joinTokenId} and used_at is null
    returning ${columns(sql)}`;
  return row;
}

export async function isJoinToken(sql: Queryable, joinTokenId: string): Promise<boolean> {
  const rows = await sql`select from join_tokens where id = ${joinTokenId}`;
  return rows.length > 0;
}

/** Returns the location of a host that may come back. Undefined: there is none, or it is fenced. */
export async function readLocationOfHost(
  sql: Queryable,
  hostId: string,
): Promise<string | undefined> {
  const [row] = await sql<{ location: string }[]>`
    select location from hosts where id = ${hostId} and fenced_at is null`;
  return row?.location;
}

/** Replaces what was found on the server that holds the token. */
export async function updateFindings(
  sql: Queryable,
  { hash, findings }: { hash: string; findings: readonly DoctorFinding[] },
): Promise<void> {
  await sql`update join_tokens set findings = ${JSON.stringify(findings)}::text::jsonb, examined_at = now()
    where hash = ${hash}`;
}

/** A token as the server that holds it sees it. */
export type HeldToken = {
  is_expired: boolean;
  is_used: boolean;
  location: string;
  rejoins_id: string | null;
  /** The host that joined with it; null if it was not used, or the host was removed. */
  host: {
    id: string;
    name: string;
    state: HostState;
    is_connected: boolean;
    has_reported: boolean;
    trouble: string;
  } | null;
};

/** Returns undefined if there is no such token. */
export async function readHeldToken(sql: Queryable, hash: string): Promise<HeldToken | undefined> {
  const [row] = await sql<HeldToken[]>`
    select t.expires_at <= now() as is_expired, t.used_at is not null as is_used, t.location, t.rejoins_id,
      case when h.id is not null then json_build_object('id', h.id, 'name', h.name, 'state', h.state,
        'is_connected', h.scheduler_id is not null, 'has_reported', h.inventory is not null, 'trouble', h.trouble) end as host
    from join_tokens t left join hosts h on h.id = t.host_id where t.hash = ${hash}`;
  return row;
}
