import type { Queryable } from '../../connect.ts';

export type CertificateStanding = { revoked: boolean; fenced: boolean };

/** Returns undefined if the certificate is not this host's, or the host was removed. */
export async function readCertificateStanding(
  sql: Queryable,
  { serial, hostId }: { serial: string; hostId: string },
): Promise<CertificateStanding | undefined> {
  const [row] = await sql<CertificateStanding[]>`
    select c.revoked_at is not null as revoked, h.fenced_at is not null or h.state = 'fenced' as fenced
    from host_certificates c join hosts h on h.id = c.host_id
    where c.serial = ${serial} and c.host_id = ${hostId}`;
  return row;
}

/** Lists revoked certificates that have not expired. */
export async function listRevokedSerials(sql: Queryable): Promise<Set<string>> {
  const rows = await sql<{ serial: string }[]>`
    select serial from host_certificates where revoked_at is not null and not_after > now()`;
  return new Set(rows.map(({ serial }) => serial));
}
