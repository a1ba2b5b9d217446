import type { Queryable } from '../../connect.ts';

export type FleetAuthorityRow = {
  certificate_pem: string;
  /** SHA-256 of the certificate in DER, lower-case hex. */
  fingerprint: string;
  /** Empty if the operator provided the authority. */
  sealed_private_key: string;
};

export async function readFleetAuthority(sql: Queryable): Promise<FleetAuthorityRow | undefined> {
  const [row] = await sql<FleetAuthorityRow[]>`
    select certificate_pem, fingerprint, sealed_private_key from fleet_authorities`;
  return row;
}

/** Does nothing if there is one: the first scheduler inserts it, and the others read it. */
export async function insertFleetAuthority(sql: Queryable, row: FleetAuthorityRow): Promise<void> {
  await sql`insert into fleet_authorities (certificate_pem, fingerprint, sealed_private_key)
    values (${row.certificate_pem}, ${row.fingerprint}, ${row.sealed_private_key})
    on conflict (id) do nothing`;
}
