import type { Queryable, Sql } from '@gantry/db/connect';
import {
  insertRotationAudit,
  listUnrotatedHosts,
  lockAuthorities,
  replaceIssuingAuthority,
  type UnrotatedHost,
  withdrawRetiringAuthority,
} from '@gantry/db/queries/hosts/authority-rotation';
import { listFleetAuthorities } from '@gantry/db/queries/hosts/fleet-authorities';
import { transact } from '@gantry/db/transact';
import { CloudError } from '@gantry/model/errors';
import { newId } from '@gantry/model/ids';
import { loadAuthority, makeAuthority } from '@gantry/pki/certificate-authority';
import { sealAuthorityKey, unsealAuthorityKey } from './authority.ts';
import type { FleetSecrets } from './fleet-secrets.ts';

/**
 * Replaces the fleet's authority in two steps, each one transaction with a line of the audit log:
 *
 * 1. `beginRotation`: a new authority issues certificates, and both are trusted. Attached hosts
 *    renew their certificates within minutes. Hosts that come back later can still attach.
 * 2. `withdrawAuthority`: the old authority is not trusted any more, and its key is erased. It is
 *    refused while a host has not attached with a certificate of the new one, unless those hosts
 *    are left behind.
 *
 * Schedulers follow each step within a second. A crash between the steps leaves both trusted.
 */
export type Rotation = {
  issuing: string | undefined;
  retiring: string | undefined;
  /** Hosts that would need a join token if the retiring authority was withdrawn now. */
  missing: UnrotatedHost[];
};

export async function readRotation(sql: Queryable): Promise<Rotation> {
  const rows = await listFleetAuthorities(sql);
  const of = (wanted: string) => rows.find(({ state }) => state === wanted)?.fingerprint;
  return await withMissing(sql, { issuing: of('issuing'), retiring: of('retiring') });
}

/** Without a rotation no host is missing, whatever certificate it has. */
async function withMissing(
  sql: Queryable,
  { issuing, retiring }: Omit<Rotation, 'missing'>,
): Promise<Rotation> {
  const missing =
    issuing === undefined || retiring === undefined
      ? []
      : await listUnrotatedHosts(sql, { issuing });
  return { issuing, retiring, missing };
}

type Beginning = { sql: Sql; fleetSecrets: FleetSecrets; actor: string; now: Date };

export async function beginRotation({
  sql,
  fleetSecrets,
  actor,
  now,
}: Beginning): Promise<Rotation> {
  // Schedulers that have another key could not open what is stored now.
  for (const row of await listFleetAuthorities(sql)) {
    if (row.sealed_private_key !== '') unsealAuthorityKey(fleetSecrets, row);
  }
  const files = makeAuthority({ now });
  const { certificatePem, fingerprint } = loadAuthority(files);
  return await transact(sql, async (tx) => {
    const { issuing, retiring } = await lockAuthorities(tx);
    if (retiring !== undefined) {
      throw new CloudError('conflict', `a rotation is in progress: withdraw ${retiring} first`);
    }
    if (issuing === undefined) {
      throw new CloudError('conflict', 'there is no authority yet: start a scheduler first');
    }
    await replaceIssuingAuthority(tx, {
      certificate_pem: certificatePem,
      fingerprint,
      sealed_private_key: sealAuthorityKey(fleetSecrets, files),
    });
    await insertRotationAudit(tx, { id: newId(now.getTime()), step: 'begin', fingerprint, actor });
    return await withMissing(tx, { issuing: fingerprint, retiring: issuing });
  });
}

type Withdrawal = { sql: Sql; actor: string; now: Date; leaveBehind: boolean };

/** Returns false, and changes nothing, if hosts are missing that are not to be left behind. */
export async function withdrawAuthority({
  sql,
  actor,
  now,
  leaveBehind,
}: Withdrawal): Promise<Rotation & { withdrawn: boolean }> {
  return await transact(sql, async (tx) => {
    const { issuing, retiring } = await lockAuthorities(tx);
    if (issuing === undefined || retiring === undefined) {
      throw new CloudError('conflict', 'no rotation is in progress: there is nothing to withdraw');
    }
    const rotation = await withMissing(tx, { issuing, retiring });
    if (rotation.missing.length > 0 && !leaveBehind) return { ...rotation, withdrawn: false };
    await withdrawRetiringAuthority(tx, { issuing });
    const id = newId(now.getTime());
    await insertRotationAudit(tx, { id, step: 'withdraw', fingerprint: retiring, actor });
    return { ...rotation, withdrawn: true };
  });
}
