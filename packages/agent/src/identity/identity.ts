import { X509Certificate } from 'node:crypto';
import { type ChannelCredentials, credentials } from '@grpc/grpc-js';

/**
 * A host's identity in its fleet: its id, the key that proves it, and the trusted authorities. All
 * in PEM.
 */
export type Identity = {
  hostId: string;
  keyPem: string;
  certificatePem: string;
  /** Every authority that may have signed a scheduler's certificate. */
  caPem: string;
};

export function validityOf(identity: Identity): { notBeforeMs: number; notAfterMs: number } {
  const { validFrom, validTo } = new X509Certificate(identity.certificatePem);
  return { notBeforeMs: Date.parse(validFrom), notAfterMs: Date.parse(validTo) };
}

export function channelCredentials({
  caPem,
  keyPem,
  certificatePem,
}: Identity): ChannelCredentials {
  return credentials.createSsl(
    Buffer.from(caPem),
    Buffer.from(keyPem),
    Buffer.from(certificatePem),
  );
}
