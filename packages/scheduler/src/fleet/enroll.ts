import { sha256 } from '@gantry/daemon/secrets';
import type { Queryable } from '@gantry/db/connect';
import {
  enrolHost,
  isUsableJoinToken,
  renewCertificate,
} from '@gantry/db/queries/hosts/enrolments';
import { badRequest, CloudError } from '@gantry/model/errors';
import { newId } from '@gantry/model/ids';
import type { CertificateAuthority } from '@gantry/pki/certificate-authority';
import { readCertificateRequest } from '@gantry/pki/certificate-request';
import type { HostIdentity } from '@gantry/pki/host-identity';
import { issueHostCertificate } from '@gantry/pki/issue-certificate';
import type { EnrollReply } from '@gantry/proto/generated/gantry/v1/EnrollReply';
import type { EnrollRequest__Output } from '@gantry/proto/generated/gantry/v1/EnrollRequest';
import { hostNames } from './host-name.ts';

/**
 * Enrols a host in the fleet, or renews its certificate. A certificate is valid only after its row is
 * written. It is issued before that, so a certificate lost in a crash admits no one.
 */
export type Enrolment = { sql: Queryable; authority: CertificateAuthority; ttlMs: number };

const TOKEN = /^gantry_jt_[A-Za-z0-9_-]{16,100}$/;

export async function enrollWithToken(
  { sql, authority, ttlMs }: Enrolment,
  { token, csrPem, hostname }: EnrollRequest__Output,
): Promise<EnrollReply> {
  if (!TOKEN.test(token)) throw badToken();
  const tokenHash = sha256(token);
  if (!(await isUsableJoinToken(sql, tokenHash))) throw badToken();
  const publicKey = requestedKey(csrPem);
  const hostId = newId();
  const { pem, ...certificate } = issueHostCertificate(authority, { hostId, publicKey, ttlMs });
  for (const name of hostNames(hostname, hostId)) {
    const outcome = await enrolHost(sql, { tokenHash, hostId, name, certificate });
    if (outcome === 'bad_token') throw badToken();
    if (outcome === 'enrolled') return reply({ authority, hostId, pem });
  }
  throw new Error(`BUG: another host is named ${hostId}`);
}

/** Issues a new certificate for the same host. The older one stays valid until it expires. */
export async function renew(
  { sql, authority, ttlMs }: Enrolment,
  { csrPem }: EnrollRequest__Output,
  { hostId, serial }: HostIdentity,
): Promise<EnrollReply> {
  const publicKey = requestedKey(csrPem);
  const { pem, ...certificate } = issueHostCertificate(authority, { hostId, publicKey, ttlMs });
  if (!(await renewCertificate(sql, { hostId, serial, certificate }))) {
    throw new CloudError('forbidden', 'the certificate was revoked, or the host fenced or removed');
  }
  return reply({ authority, hostId, pem });
}

function reply({
  authority,
  hostId,
  pem,
}: {
  authority: CertificateAuthority;
  hostId: string;
  pem: string;
}): EnrollReply {
  return { hostId, certificatePem: pem, caPem: authority.certificatePem };
}

function requestedKey(csrPem: string): Buffer {
  const requested = readCertificateRequest(csrPem);
  if ('publicKey' in requested) return requested.publicKey;
  throw badRequest([{ field: 'csr_pem', reason: requested.reason }]);
}

/** The same error for an unknown, used or expired token, so that guessing reveals nothing. */
const badToken = () =>
  new CloudError('bad_credential', 'the join token is not valid: ask an operator for a new one');
