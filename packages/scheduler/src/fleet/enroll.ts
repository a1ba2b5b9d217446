import { sha256 } from '@gantry/daemon/secrets';
import type { Queryable } from '@gantry/db/connect';
import {
  enrolHost,
  readUsableJoinToken,
  rejoinHost,
  renewCertificate,
} from '@gantry/db/queries/hosts/enrolments';
import { badRequest, CloudError } from '@gantry/model/errors';
import { newId } from '@gantry/model/ids';
import { readCertificateRequest } from '@gantry/pki/certificate-request';
import type { HostIdentity } from '@gantry/pki/host-identity';
import { issueHostCertificate } from '@gantry/pki/issue-certificate';
import type { EnrollReply } from '@gantry/proto/generated/gantry/v1/EnrollReply';
import type { EnrollRequest__Output } from '@gantry/proto/generated/gantry/v1/EnrollRequest';
import { type Authorities, trustPem } from './authorities.ts';
import { hostNames } from './host-name.ts';

/**
 * Enrols a host in the fleet, lets one come back as itself, or renews its certificate. A certificate is valid only after its row is
 * written. It is issued before that, so a certificate lost in a crash admits no one.
 */
export type Enrolment = {
  sql: Queryable;
  authorities: () => Authorities;
  ttlMs: number;
  /** The time of the database. */
  now: () => Date;
};

const TOKEN = /^gantry_jt_[A-Za-z0-9_-]{16,100}$/;

export async function enrollWithToken(
  { sql, authorities, ttlMs, now }: Enrolment,
  { token, csrPem, hostname, hostId: knownHostId }: EnrollRequest__Output,
): Promise<EnrollReply> {
  if (!TOKEN.test(token)) throw badToken();
  const tokenHash = sha256(token);
  const usable = await readUsableJoinToken(sql, tokenHash);
  if (!usable) throw badToken();
  const { rejoins_id: rejoinsId } = usable;
  if (knownHostId !== '' && rejoinsId !== knownHostId) throw badToken();
  const publicKey = requestedKey(csrPem);
  const hostId = rejoinsId ?? newId();
  const current = authorities();
  const identity = { hostId, publicKey, ttlMs, now: now() };
  const { pem, certificate } = issue(current, identity);
  if (rejoinsId !== null) {
    if (!(await rejoinHost(sql, { tokenHash, hostId, certificate }))) throw badToken();
    return reply({ authorities: current, hostId, pem });
  }
  for (const name of hostNames(hostname, hostId)) {
    const outcome = await enrolHost(sql, { tokenHash, hostId, name, certificate });
    if (outcome === 'bad_token') throw badToken();
    if (outcome === 'enrolled') return reply({ authorities: current, hostId, pem });
  }
  throw new Error(`BUG: another host is named ${hostId}`);
}

/** Issues a new certificate for the same host. The older one stays valid until it expires. */
export async function renew(
  { sql, authorities, ttlMs, now }: Enrolment,
  { csrPem }: EnrollRequest__Output,
  { hostId, serial }: HostIdentity,
): Promise<EnrollReply> {
  const publicKey = requestedKey(csrPem);
  const current = authorities();
  const identity = { hostId, publicKey, ttlMs, now: now() };
  const { pem, certificate } = issue(current, identity);
  if (!(await renewCertificate(sql, { hostId, serial, certificate }))) {
    throw new CloudError('forbidden', 'the certificate was revoked, or the host fenced or removed');
  }
  return reply({ authorities: current, hostId, pem });
}

function issue({ issuing }: Authorities, identity: Parameters<typeof issueHostCertificate>[1]) {
  const { pem, serial, notAfter } = issueHostCertificate(issuing, identity);
  return { pem, certificate: { serial, notAfter, authority: issuing.fingerprint } };
}

type Reply = { authorities: Authorities; hostId: string; pem: string };

function reply({ authorities, hostId, pem }: Reply): EnrollReply {
  return { hostId, certificatePem: pem, caPem: trustPem(authorities) };
}

function requestedKey(csrPem: string): Buffer {
  const requested = readCertificateRequest(csrPem);
  if ('publicKey' in requested) return requested.publicKey;
  throw badRequest([{ field: 'csr_pem', reason: requested.reason }]);
}

/** The same error for an unknown, used or expired token, so that guessing reveals nothing. */
const badToken = () =>
  new CloudError('bad_credential', 'the join token is not valid: ask an operator for a new one');
