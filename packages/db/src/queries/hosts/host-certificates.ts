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

export type UnknownCertificate = {
  hostId: string;
  serial: string;
  issuedAt: Date;
  notAfter: Date;
  /** The fingerprint of its authority. */
  authority: string;
};

/**
 * Records a certificate of this fleet that is not in the database, if its row was lost with other commits: it
 * was issued before the era began, and is newer than all that the database knows of the host. Returns false
 * if it was not. A revoked certificate has a row, so none comes back. An operator who revokes those of a host
 * in this era means the unknown ones too.
 */
export async function adoptCertificate(
  sql: Queryable,
  { hostId, serial, issuedAt, notAfter, authority }: UnknownCertificate,
): Promise<boolean> {
  const { count } = await sql`
    insert into host_certificates (serial, host_id, not_after, authority)
    select ${serial}::text, h.id, ${notAfter}::timestamptz, ${authority}::text from hosts h, installation i
    where h.id = ${hostId} and h.fenced_at is null and h.state <> 'fenced'
      and extract(epoch from ${issuedAt}::timestamptz) < i.era
      and not exists (select from host_certificates c where c.host_id = h.id
        and (c.created_at > ${issuedAt} or c.revoked_at >= to_timestamp(i.era)))
    on conflict (serial) do nothing`;
  return count === 1;
}

/** Records a host whose enrolment was lost. The host dials every few seconds; its row changes less often. */
export async function recordStrayHost(
  sql: Queryable,
  {
    hostId,
    issuedAt,
    address,
  }: Pick<UnknownCertificate, 'hostId' | 'issuedAt'> & { address: string },
): Promise<void> {
  await sql`
    insert into stray_hosts as s (host_id, address, last_seen_at)
    select ${hostId}::uuid, ${address}::text, now() from installation i
    where extract(epoch from ${issuedAt}::timestamptz) < i.era
      and not exists (select from hosts where id = ${hostId})
    on conflict (host_id) do update set address = excluded.address, last_seen_at = now()
      where s.last_seen_at < now() - interval '10 seconds'`;
}
