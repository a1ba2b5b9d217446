import { X509Certificate } from 'node:crypto';
import { type ChannelCredentials, credentials } from '@grpc/grpc-js';

/** Who a host is to its fleet: its id, the key that proves it, and whom it believes. All in PEM. */
export type Identity = {
  hostId: string;
  keyPem: string;
  certificatePem: string;
  /** Every authority by which a scheduler is known. */
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
