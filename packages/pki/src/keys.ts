import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto';
import { NULL, oid, sequence } from './der.ts';

/** The accepted types of keys and their signature algorithms. */
export type Signing = { hash: 'sha256' | 'sha384'; algorithm: Buffer };

const ECDSA_SHA256: Signing = { hash: 'sha256', algorithm: sequence(oid('1.2.840.10045.4.3.2')) };
const ECDSA_SHA384: Signing = { hash: 'sha384', algorithm: sequence(oid('1.2.840.10045.4.3.3')) };
const RSA_SHA256: Signing = {
  hash: 'sha256',
  algorithm: sequence(oid('1.2.840.113549.1.1.11'), NULL),
};

const MIN_RSA_BITS = 2048;
/** With longer keys one check takes milliseconds, and every client may send a request. */
const MAX_RSA_BITS = 8192;

export const KEYS_TAKEN = `EC P-256, EC P-384 or RSA of ${MIN_RSA_BITS} to ${MAX_RSA_BITS} bits`;

/** Returns a key's signature algorithm, or undefined if the type of key is not accepted. */
export function signingOf(key: KeyObject): Signing | undefined {
  const { namedCurve, modulusLength = 0 } = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType === 'ec') {
    if (namedCurve === 'prime256v1') return ECDSA_SHA256;
    return namedCurve === 'secp384r1' ? ECDSA_SHA384 : undefined;
  }
  if (key.asymmetricKeyType !== 'rsa') return undefined;
  return modulusLength >= MIN_RSA_BITS && modulusLength <= MAX_RSA_BITS ? RSA_SHA256 : undefined;
}

/** Generates a P-256 key. */
export function makePrivateKey(): KeyObject {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
}

export function privateKeyPem(key: KeyObject): string {
  return key.export({ format: 'pem', type: 'pkcs8' }).toString();
}

export function parsePrivateKey(pem: string): KeyObject {
  return createPrivateKey(pem);
}

/** The public key as SubjectPublicKeyInfo in DER. */
export function publicKeyOf(key: KeyObject): Buffer {
  return createPublicKey(key).export({ format: 'der', type: 'spki' });
}
