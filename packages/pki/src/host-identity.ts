import { X509Certificate } from 'node:crypto';
import { CLIENT_AUTH } from './certificate.ts';
import { CLOCK_SKEW_MS } from './certificate-authority.ts';
import { fingerprint } from './fingerprint.ts';

const URI_PREFIX = 'urn:gantry:host:';
export const hostUri = (hostId: string) => URI_PREFIX + hostId;

export type HostIdentity = {
  hostId: string;
  serial: string;
  issuedAt: Date;
  notAfter: Date;
  /** The fingerprint of its authority. */
  authority: string;
};

/** All subject alternative names as Node.js formats them: exactly one URI. */
const HOST_NAME = new RegExp(
  `^URI:${URI_PREFIX}([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$`,
);

/**
 * Returns the host that a certificate identifies, or why it identifies none. It does not check
 * revocation or whether the host still exists, because only the database knows that.
 */
export function hostIdentity(
  certificateRaw: Buffer,
  authorities: readonly X509Certificate[],
  now: Date,
): HostIdentity | { reason: string } {
  const certificate = parse(certificateRaw);
  if (!certificate) return { reason: 'the certificate cannot be read' };
  const issuer = authorities.find((authority) => issued(authority, certificate));
  if (!issuer) return { reason: 'the certificate is not of this fleet' };
  if (!isValidAt(issuer, now)) return { reason: "the fleet's authority is not valid now" };
  if (!isValidAt(certificate, now)) return { reason: 'the certificate is not valid now' };
  if (certificate.ca) return { reason: "the certificate is an authority's" };
  if (!certificate.keyUsage?.includes(CLIENT_AUTH)) {
    return { reason: 'the certificate is not for clients' };
  }
  const hostId = HOST_NAME.exec(certificate.subjectAltName ?? '')?.[1];
  if (hostId === undefined) return { reason: 'the certificate names no host' };
  return {
    ...{ hostId, serial: serialOf(certificate), authority: fingerprint(issuer.raw) },
    issuedAt: new Date(Date.parse(certificate.validFrom) + CLOCK_SKEW_MS),
    notAfter: new Date(certificate.validTo),
  };
}

/** In the database's format. */
const serialOf = (certificate: X509Certificate) => certificate.serialNumber.toLowerCase();

function parse(raw: Buffer): X509Certificate | undefined {
  try {
    return new X509Certificate(raw);
  } catch {
    return undefined;
  }
}

function issued(authority: X509Certificate, certificate: X509Certificate): boolean {
  return (
    authority.ca && certificate.checkIssued(authority) && certificate.verify(authority.publicKey)
  );
}

function isValidAt(certificate: X509Certificate, now: Date): boolean {
  const at = now.getTime();
  return Date.parse(certificate.validFrom) <= at && at < Date.parse(certificate.validTo);
}
