import { X509Certificate } from 'node:crypto';
import { fingerprint } from '@gantry/pki/fingerprint';
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

/**
 * Returns whether the certificate is of the first of these authorities, and exactly all of them are
 * trusted. They are given by their SHA-256.
 */
export function isOfAuthorities(identity: Identity, sha256s: readonly string[]): boolean {
  const authorities = new Map(
    certificatesIn(identity.caPem).map((authority) => [fingerprint(authority.raw), authority]),
  );
  const isTrusted =
    authorities.size === sha256s.length && sha256s.every((sha) => authorities.has(sha));
  const issuing = authorities.get(sha256s[0] ?? '');
  if (!isTrusted || !issuing) return false;
  const certificate = new X509Certificate(identity.certificatePem);
  return certificate.checkIssued(issuing) && certificate.verify(issuing.publicKey);
}

function certificatesIn(pem: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => new X509Certificate(block));
}
