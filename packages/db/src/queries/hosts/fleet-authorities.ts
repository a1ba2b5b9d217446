import type { Queryable } from '../../connect.ts';

export type FleetAuthorityRow = {
  /** The first authority has 1. */
  id: number;
  certificate_pem: string;
  /** SHA-256 of the certificate in DER, lower-case hex. */
  fingerprint: string;
  /** Empty if the operator provided the authority, or if it is withdrawn. */
  sealed_private_key: string;
  state: 'issuing' | 'retiring' | 'withdrawn';
};

/** Lists all authorities, the newest first. Withdrawn ones are included. */
export async function listFleetAuthorities(sql: Queryable): Promise<FleetAuthorityRow[]> {
  return await sql<FleetAuthorityRow[]>`
    select id, certificate_pem, fingerprint, sealed_private_key, state
    from fleet_authorities order by id desc`;
}

/**
 * Returns the authority that signs the certificates of schedulers: the oldest one that is trusted.
 * A new host finds it when it connects, and compares its fingerprint.
 */
export async function readServingAuthority(
  sql: Queryable,
): Promise<Pick<FleetAuthorityRow, 'certificate_pem' | 'fingerprint'> | undefined> {
  const [row] = await sql<Pick<FleetAuthorityRow, 'certificate_pem' | 'fingerprint'>[]>`
    select certificate_pem, fingerprint from fleet_authorities
    where state <> 'withdrawn' order by id limit 1`;
  return row;
}

/** Returns the certificates of all trusted authorities as one PEM text; empty if there are none. */
export async function readTrustedCertificates(sql: Queryable): Promise<string> {
  const rows = await sql<{ certificate_pem: string }[]>`
    select certificate_pem from fleet_authorities where state <> 'withdrawn' order by id`;
  return rows.map(({ certificate_pem }) => certificate_pem).join('');
}

export type NewAuthority = Omit<FleetAuthorityRow, 'id' | 'state'>;

/** Does nothing if there is one: the first scheduler inserts it, and the others read it. */
export async function insertFleetAuthority(sql: Queryable, row: NewAuthority): Promise<void> {
  await sql`insert into fleet_authorities (certificate_pem, fingerprint, sealed_private_key)
    values (${row.certificate_pem}, ${row.fingerprint}, ${row.sealed_private_key})
    on conflict do nothing`;
}

/** Several schedulers may do this at the same time: the first one wins. */
export async function updateSealedAuthority(
  sql: Queryable,
  { from, to }: { from: string; to: string },
): Promise<void> {
  await sql`update fleet_authorities set sealed_private_key = ${to} where sealed_private_key = ${from}`;
}
