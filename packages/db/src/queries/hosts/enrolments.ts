import postgres from 'postgres';
import type { Queryable } from '../../connect.ts';

/** How hosts join, and renew their certificates. Each function is one atomic statement. */

export type NewCertificate = { serial: string; notAfter: Date };

export async function isUsableJoinToken(sql: Queryable, hash: string): Promise<boolean> {
  const rows = await sql`select from join_tokens
    where hash = ${hash} and used_at is null and expires_at > now()`;
  return rows.length > 0;
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
        where hash = ${tokenHash} and used_at is null and expires_at > now()
        returning location
      ), host as (
        insert into hosts (id, location, name)
        select ${hostId}::uuid, location, ${name}::text from token
        returning id
      )
      insert into host_certificates (serial, host_id, not_after)
      select ${certificate.serial}::text, id, ${certificate.notAfter}::timestamptz from host`;
    return count === 1 ? 'enrolled' : 'bad_token';
  } catch (error) {
    if (error instanceof postgres.PostgresError && error.constraint_name === 'hosts_name_key') {
      return 'name_taken';
    }
    throw error;
  }
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
    insert into host_certificates (serial, host_id, not_after)
    select ${certificate.serial}::text, h.id, ${certificate.notAfter}::timestamptz
    from host_certificates c join hosts h on h.id = c.host_id
    where c.serial = ${serial} and c.host_id = ${hostId} and c.revoked_at is null
      and h.fenced_at is null and h.state <> 'fenced'
    for share of c for key share of h`;
  return count === 1;
}
