import type { X509Certificate } from 'node:crypto';
import type { Queryable } from '@gantry/db/connect';
import { readCertificateStanding } from '@gantry/db/queries/hosts/host-certificates';
import { CloudError } from '@gantry/model/errors';
import { type HostIdentity, hostIdentity } from '@gantry/pki/host-identity';
import type { AuthContext } from './grpc-types.ts';

/** Which host calls, by the certificate of its connection. */
export function identifyPeer(
  peer: AuthContext,
  authorities: readonly X509Certificate[],
): HostIdentity {
  const certificate = peer.sslPeerCertificate?.raw;
  if (!certificate) throw stranger('this call needs a valid client certificate of this fleet');
  const identity = hostIdentity(certificate, authorities, new Date());
  if ('reason' in identity) throw stranger(identity.reason);
  return identity;
}

/** Whether it may still: its certificate is one we gave, not revoked, and the host not fenced. */
export async function admit(sql: Queryable, { serial, hostId }: HostIdentity): Promise<void> {
  const standing = await readCertificateStanding(sql, { serial, hostId });
  if (!standing) throw stranger('the certificate is not known, or its host was removed');
  if (standing.revoked) throw stranger('the certificate was revoked');
  if (standing.fenced) throw new CloudError('forbidden', 'the host is fenced');
}

const stranger = (message: string) => new CloudError('bad_credential', message);
