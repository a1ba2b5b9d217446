import {
  type Certificate,
  CLIENT_AUTH,
  extendedKeyUsage,
  KEY_USAGE,
  keyUsage,
  notAnAuthority,
  SERVER_AUTH,
  signCertificate,
  subjectAltNames,
  type Validity,
} from './certificate.ts';
import { type CertificateAuthority, CLOCK_SKEW_MS } from './certificate-authority.ts';
import { distinguishedName } from './distinguished-name.ts';
import { hostUri } from './host-identity.ts';
import { makePrivateKey, privateKeyPem, publicKeyOf } from './keys.ts';
import { serverName, uriName } from './subject-alt-names.ts';

const FOR_TLS = [notAnAuthority(), keyUsage(KEY_USAGE.digitalSignature)];
const FOR_CLIENTS = [...FOR_TLS, extendedKeyUsage(CLIENT_AUTH)];
const FOR_SERVERS = [...FOR_TLS, extendedKeyUsage(SERVER_AUTH)];

/** `publicKey` is the result of `readCertificateRequest`. */
type HostCertificate = { hostId: string; publicKey: Buffer; ttlMs: number; now?: Date };

/** Identifies a host: the host's id is the name. It is valid only for TLS clients. */
export function issueHostCertificate(
  authority: CertificateAuthority,
  { hostId, publicKey, ttlMs, now = new Date() }: HostCertificate,
): Certificate {
  return signCertificate({
    issuer: authority.issuer,
    subject: distinguishedName(hostId),
    publicKey,
    validity: validityOf(authority, ttlMs, now),
    extensions: [...FOR_CLIENTS, subjectAltNames([uriName(hostUri(hostId))])],
  });
}

type ServerCertificate = { names: readonly string[]; ttlMs: number; now?: Date };

/** Identifies a scheduler to hosts and has a new key. `chainPem` ends with the authority. */
export function issueServerCertificate(
  authority: CertificateAuthority,
  { names, ttlMs, now = new Date() }: ServerCertificate,
): Certificate & { chainPem: string; privateKeyPem: string } {
  const key = makePrivateKey();
  const certificate = signCertificate({
    issuer: authority.issuer,
    subject: distinguishedName('gantry scheduler'),
    publicKey: publicKeyOf(key),
    validity: validityOf(authority, ttlMs, now),
    extensions: [...FOR_SERVERS, subjectAltNames(names.map(serverName))],
  });
  return {
    ...certificate,
    chainPem: certificate.pem + authority.certificatePem,
    privateKeyPem: privateKeyPem(key),
  };
}

/** No certificate is valid longer than its authority. */
function validityOf(authority: CertificateAuthority, ttlMs: number, now: Date): Validity {
  const end = Math.min(now.getTime() + ttlMs, authority.notAfter.getTime());
  return { notBefore: new Date(now.getTime() - CLOCK_SKEW_MS), notAfter: new Date(end) };
}
