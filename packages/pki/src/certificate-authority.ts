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

/** A fleet's certificate authority: its certificate, and the key it signs with. */
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
/** Longer than any host lives: an authority has no successor to hand over to. */
const LIFETIME_MS = 25 * YEAR_MS;
/** Clocks of hosts that run behind ours by less than this still take what we issue. */
export const CLOCK_SKEW_MS = 5 * 60_000;

/** A new one, self-signed, with a P-256 key. */
export function makeAuthority({ now = new Date() }: { now?: Date } = {}): AuthorityFiles {
  const key = makePrivateKey();
  const signing = signingOf(key);
  if (!signing) throw new Error('BUG: a new key that cannot sign');
  const publicKey = publicKeyOf(key);
  // A name of its own: those who know several fleets can tell which one issued a certificate.
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

/** Throws a message for the operator where the two do not make an authority. */
export function loadAuthority({
  certificatePem,
  privateKeyPem: keyPem,
}: AuthorityFiles): CertificateAuthority {
  const certificate = new X509Certificate(certificatePem);
  const key = parsePrivateKey(keyPem);
  const signing = signingOf(key);
  if (!signing) throw new Error(`the authority's key must be ${KEYS_TAKEN}`);
  if (!certificate.ca) throw new Error('the certificate is not that of an authority');
  if (!certificate.checkPrivateKey(key)) throw new Error('the key is not that of the certificate');
  return {
    certificate,
    certificatePem: certificate.toString(),
    fingerprint: fingerprint(certificate.raw),
    issuer: { ...readIssuer(certificate.raw), key, signing },
    notAfter: new Date(certificate.validTo),
  };
}
