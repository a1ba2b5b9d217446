import type { X509Certificate } from 'node:crypto';
import type { Log } from '@gantry/daemon/log';
import type { Queryable } from '@gantry/db/connect';
import {
  adoptCertificate,
  readCertificateStanding,
  recordStrayHost,
} from '@gantry/db/queries/hosts/host-certificates';
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

type Admission = { sql: Queryable; log: Log; identity: HostIdentity; address: string };

/**
 * Throws unless the certificate is known and not revoked, and the host is not fenced. After a restore or a
 * failover the database may have lost certificates: those become known again, and hosts that are not in the
 * database are recorded.
 */
export async function admit({ sql, log, identity, address }: Admission): Promise<void> {
  const { serial, hostId } = identity;
  const standing = await readCertificateStanding(sql, { serial, hostId });
  if (standing?.revoked) throw badCertificate('the certificate was revoked');
  if (standing?.fenced) throw new CloudError('forbidden', 'the host is fenced');
  if (standing) return;
  if (await adoptCertificate(sql, identity)) {
    log.warn(
      { host_id: hostId, serial },
      'certificate was lost with other commits; it is valid again',
    );
    return;
  }
  await recordStrayHost(sql, { ...identity, address });
  throw badCertificate('the certificate is unknown, or its host was removed');
}

const badCertificate = (message: string) => new CloudError('bad_credential', message);
