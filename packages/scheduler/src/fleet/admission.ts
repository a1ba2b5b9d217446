import type { X509Certificate } from 'node:crypto';
import type { Queryable } from '@gantry/db/connect';
import { readCertificateStanding } from '@gantry/db/queries/hosts/host-certificates';
import { CloudError } from '@gantry/model/errors';
import { type HostIdentity, hostIdentity } from '@gantry/pki/host-identity';
import type { AuthContext } from './grpc-types.ts';

/** Returns the host that calls, from the certificate of its connection. Throws if it has none. */
export function identifyPeer(
  peer: AuthContext,
  { authorities, now }: { authorities: readonly X509Certificate[]; now: Date },
): HostIdentity {
  const certificate = peer.sslPeerCertificate?.raw;
  if (!certificate)
    throw badCertificate('this call needs a valid client certificate of this fleet');
  const identity = hostIdentity(certificate, authorities, now);
  if ('reason' in identity) throw badCertificate(identity.reason);
  return identity;
}

/** Throws unless the certificate is known and not revoked, and the host is not fenced. */
export async function admit(sql: Queryable, { serial, hostId }: HostIdentity): Promise<void> {
  const standing = await readCertificateStanding(sql, { serial, hostId });
  if (!standing) throw badCertificate('the certificate is unknown, or its host was removed');
  if (standing.revoked) throw badCertificate('the certificate was revoked');
  if (standing.fenced) throw new CloudError('forbidden', 'the host is fenced');
}

const badCertificate = (message: string) => new CloudError('bad_credential', message);
