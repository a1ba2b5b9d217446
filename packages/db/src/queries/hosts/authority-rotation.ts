import type { Queryable } from '../../connect.ts';
import { insertAuditLines } from '../operations/records.ts';
import type { FleetAuthorityRow, NewAuthority } from './fleet-authorities.ts';

/** How an operator replaces the fleet's authority. Call `lockAuthorities` first in each transaction. */

/**
 * Serialises the steps of a rotation, and returns the authorities that are trusted. The lock is
 * taken in a statement of its own.
 */
export async function lockAuthorities(
  tx: Queryable,
): Promise<{ issuing?: string; retiring?: string }> {
  await tx`select from fleet_authorities order by id for update`;
  const rows = await tx<Pick<FleetAuthorityRow, 'fingerprint' | 'state'>[]>`
    select fingerprint, state from fleet_authorities where state <> 'withdrawn'`;
  return Object.fromEntries(rows.map(({ state, fingerprint }) => [state, fingerprint]));
}

/** The issuing authority retires, and the new one issues. */
export async function replaceIssuingAuthority(tx: Queryable, row: NewAuthority): Promise<void> {
  await tx`update fleet_authorities set state = 'retiring' where state = 'issuing'`;
  await tx`insert into fleet_authorities (id, certificate_pem, fingerprint, sealed_private_key)
    select max(id) + 1, ${row.certificate_pem}::text, ${row.fingerprint}::text, ${row.sealed_private_key}::text
    from fleet_authorities`;
}

/**
 * Forgets the key of the retiring authority, and revokes all certificates that the issuing one has
 * not signed.
 */
export async function withdrawRetiringAuthority(
  tx: Queryable,
  { issuing }: { issuing: string },
): Promise<void> {
  await tx`update fleet_authorities set state = 'withdrawn', withdrawn_at = now(), sealed_private_key = ''
    where state = 'retiring'`;
  await tx`update host_certificates set revoked_at = now()
    where revoked_at is null and authority <> ${issuing}`;
}

export type UnrotatedHost = { id: string; name: string; location: string; attached: boolean };

/** Lists the hosts that are not fenced and have not attached with a certificate of this authority. */
export async function listUnrotatedHosts(
  sql: Queryable,
  { issuing }: { issuing: string },
): Promise<UnrotatedHost[]> {
  return await sql<UnrotatedHost[]>`
    select id, name, location, scheduler_id is not null as attached from hosts
    where fenced_at is null and state <> 'fenced' and certificate_authority <> ${issuing}
    order by name`;
}

type AuditedStep = { id: string; step: 'begin' | 'withdraw'; fingerprint: string; actor: string };

/** Written in the transaction of the step. The actor is the user who ran the command, and where. */
export async function insertRotationAudit(
  tx: Queryable,
  { id, step, fingerprint, actor }: AuditedStep,
): Promise<void> {
  await insertAuditLines(tx, [
    {
      ...{ auditId: id, requestId: id, at: new Date(), status: 200, sourceIp: '' },
      ...{ organizationId: null, projectId: null },
      ...{ actorType: 'anonymous', actorId: null, actor },
      ...{ action: `fleet-authorities.${step}`, resourceType: 'fleet-authorities' },
      resourceId: fingerprint,
    },
  ]);
}
