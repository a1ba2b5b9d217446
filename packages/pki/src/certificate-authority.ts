import { randomBytes, X509Certificate } from 'node:crypto';
import {
  anAuthority,
  type Issuer,
  KEY_USAGE,
  keyIdOf,
  keyUsage,
  readIssuer,
  signCertificate,
} from './certificate.ts';
import { distinguishedName } from './distinguished-name.ts';
import { fingerprint } from './fingerprint.ts';
import {
  KEYS_TAKEN,
  makePrivateKey,
  parsePrivateKey,
  privateKeyPem,
  publicKeyOf,
  signingOf,
} from './keys.ts';

/** A fleet's certificate authority: its certificate and its signing key. */
export type CertificateAuthority = {
  certificatePem: string;
  certificate: X509Certificate;
  /** SHA-256 of the certificate in DER, lower-case hex. */
  fingerprint: string;
  issuer: Issuer;
  notAfter: Date;
};

export type AuthorityFiles = { certificatePem: string; privateKeyPem: string };

const YEAR_MS = 365.25 * 86_400_000;
/** Longer than the life of a host, so that an authority is replaced only if an operator wants it. */
const LIFETIME_MS = 25 * YEAR_MS;
/** Hosts whose clocks are behind by less than this accept new certificates. */
export const CLOCK_SKEW_MS = 5 * 60_000;

/** Creates a self-signed authority with a P-256 key. */
export function makeAuthority({ now = new Date() }: { now?: Date } = {}): AuthorityFiles {
  const key = makePrivateKey();
  const signing = signingOf(key);
  if (!signing) throw new Error('BUG: the new key cannot sign');
  const publicKey = publicKeyOf(key);
  // The name is unique, so that a certificate shows which fleet issued it.
  const name = distinguishedName(`Gantry fleet ${randomBytes(4).toString('hex')}`);
  const keyId = keyIdOf(publicKey);
  const { pem } = signCertificate({
    issuer: { name, keyId, key, signing },
    subject: name,
    publicKey,
    validity: {
      notBefore: new Date(now.getTime() - CLOCK_SKEW_MS),
      notAfter: new Date(now.getTime() + LIFETIME_MS),
    },
    extensions: [anAuthority(), keyUsage(KEY_USAGE.certificateSign | KEY_USAGE.crlSign)],
  });
  return { certificatePem: pem, privateKeyPem: privateKeyPem(key) };
}

/** Throws an error for the operator if the certificate and the key do not form an authority. */
export function loadAuthority({
  certificatePem,
  privateKeyPem: keyPem,
}: AuthorityFiles): CertificateAuthority {
  const certificate = new X509Certificate(certificatePem);
  const key = parsePrivateKey(keyPem);
  const signing = signingOf(key);
  if (!signing) throw new Error(`the authority's key must be ${KEYS_TAKEN}`);
  if (!certificate.ca) throw new Error('the certificate is not a certificate authority');
  if (!certificate.checkPrivateKey(key)) throw new Error('the key does not match the certificate');
  return {
    certificate,
    certificatePem: certificate.toString(),
    fingerprint: fingerprint(certificate.raw),
    issuer: { ...readIssuer(certificate.raw), key, signing },
    notAfter: new Date(certificate.validTo),
  };
}
