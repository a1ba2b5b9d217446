import postgres from 'postgres';
import type { Queryable } from '../../connect.ts';

/** How hosts join, and renew their certificates. Each function is one atomic statement. */

export type NewCertificate = {
  serial: string;
  notAfter: Date;
  /** The fingerprint of the authority that signed it. */
  authority: string;
};

/** Returns the host that the token names, or null if it is for a new one. Undefined: not usable. */
export async function readUsableJoinToken(
  sql: Queryable,
  hash: string,
): Promise<{ rejoins_id: string | null } | undefined> {
  const [row] = await sql<{ rejoins_id: string | null }[]>`select rejoins_id from join_tokens
    where hash = ${hash} and used_at is null and expires_at > now()`;
  return row;
}

type Enrolment = { tokenHash: string; hostId: string; name: string; certificate: NewCertificate };

/**
 * Uses up the token for a new host in the token's location. If two hosts use it at once, the row
 * lock serialises them, and the second finds it used.
 */
export async function enrolHost(
  sql: Queryable,
  { tokenHash, hostId, name, certificate }: Enrolment,
): Promise<'enrolled' | 'bad_token' | 'name_taken'> {
  try {
    const { count } = await sql`
      with token as (
        update join_tokens set used_at = now(), host_id = ${hostId}
        where hash = ${tokenHash} and used_at is null and expires_at > now() and rejoins_id is null
        returning location
      ), host as (
        insert into hosts (id, location, name)
        select ${hostId}::uuid, location, ${name}::text from token
        returning id
      )
      insert into host_certificates (serial, host_id, not_after, authority)
      select ${certificate.serial}::text, id, ${certificate.notAfter}::timestamptz, ${certificate.authority}::text
      from host`;
    return count === 1 ? 'enrolled' : 'bad_token';
  } catch (error) {
    if (error instanceof postgres.PostgresError && error.constraint_name === 'hosts_name_key') {
      return 'name_taken';
    }
    throw error;
  }
}

/**
 * Uses up the token for the host that it names, and revokes the host's earlier certificates. Returns
 * false if the token is not usable any more, or the host is fenced or removed.
 */
export async function rejoinHost(
  sql: Queryable,
  { tokenHash, hostId, certificate }: Omit<Enrolment, 'name'>,
): Promise<boolean> {
  const { count } = await sql`
    with host as (
      select id from hosts where id = ${hostId} and fenced_at is null and state <> 'fenced' for no key update
    ), token as (
      update join_tokens set used_at = now(), host_id = ${hostId}
      where hash = ${tokenHash} and used_at is null and expires_at > now() and rejoins_id in (select id from host)
      returning host_id
    ), revoked as (
      update host_certificates set revoked_at = now()
      where host_id in (select host_id from token) and revoked_at is null
    )
    insert into host_certificates (serial, host_id, not_after, authority)
    select ${certificate.serial}::text, host_id, ${certificate.notAfter}::timestamptz, ${certificate.authority}::text
    from token`;
  return count === 1;
}

type Renewal = { hostId: string; serial: string; certificate: NewCertificate };

/**
 * Adds a certificate for a host that has an older one. Returns false if the older one was revoked,
 * or the host is fenced or removed. Revoking all certificates of a host locks the host's row first,
 * so it also revokes a certificate that is being added.
 */
export async function renewCertificate(
  sql: Queryable,
  { hostId, serial, certificate }: Renewal,
): Promise<boolean> {
  const { count } = await sql`
    insert into host_certificates (serial, host_id, not_after, authority)
    select ${certificate.serial}::text, h.id, ${certificate.notAfter}::timestamptz, ${certificate.authority}::text
    from host_certificates c join hosts h on h.id = c.host_id
    where c.serial = ${serial} and c.host_id = ${hostId} and c.revoked_at is null
      and h.fenced_at is null and h.state <> 'fenced'
    for share of c for key share of h`;
  return count === 1;
}
