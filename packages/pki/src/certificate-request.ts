import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import {
  bitString,
  contextTag,
  DerError,
  expectTag,
  readBits,
  readOnly,
  readSequence,
  sequence,
  TAG,
  write,
} from './der.ts';
import { distinguishedName } from './distinguished-name.ts';
import {
  KEYS_TAKEN,
  makePrivateKey,
  parsePrivateKey,
  privateKeyPem,
  publicKeyOf,
  signingOf,
} from './keys.ts';
import { fromPem, toPem } from './pem.ts';

/** PKCS #10 requests: a public key, signed with its private key. */

const VERSION_1 = write(TAG.integer, Buffer.from([0]));
const NO_ATTRIBUTES = write(contextTag(0, true));

/** Creates a request for this key, or for a new P-256 key. */
export function makeCertificateRequest({ privateKeyPem: given }: { privateKeyPem?: string } = {}): {
  privateKeyPem: string;
  csrPem: string;
} {
  const key = given === undefined ? makePrivateKey() : parsePrivateKey(given);
  const signing = signingOf(key);
  if (!signing) throw new Error(`a certificate's key must be ${KEYS_TAKEN}`);
  const name = distinguishedName('gantry host');
  const body = sequence(VERSION_1, name, publicKeyOf(key), NO_ATTRIBUTES);
  const request = sequence(body, signing.algorithm, bitString(sign(signing.hash, body, key)));
  return {
    privateKeyPem: given ?? privateKeyPem(key),
    csrPem: toPem('CERTIFICATE REQUEST', request),
  };
}

/** Much more than a request for the longest accepted key needs. */
const MAX_PEM_LENGTH = 16_384;
const LABELS = ['CERTIFICATE REQUEST', 'NEW CERTIFICATE REQUEST'];

/** The key is the last part of the algorithm's identifier in DER. */
const HASHES = new Map([
  ['2a8648ce3d040302', 'sha256'],
  ['2a8648ce3d040303', 'sha384'],
  ['2a8648ce3d040304', 'sha512'],
  ['2a864886f70d01010b', 'sha256'],
  ['2a864886f70d01010c', 'sha384'],
  ['2a864886f70d01010d', 'sha512'],
]);

const UNREADABLE = 'not a certificate request that can be read';

/** The key as SubjectPublicKeyInfo in DER. */
export type RequestedKey = { publicKey: Buffer } | { reason: string };

/**
 * Returns the key of a request after its signature was verified. Everything else in the request is
 * ignored, because a host must not choose its own identity.
 */
export function readCertificateRequest(csrPem: string): RequestedKey {
  const der = csrPem.length > MAX_PEM_LENGTH ? undefined : fromPem(LABELS, csrPem);
  if (!der) return { reason: 'not a certificate request in PEM' };
  try {
    const [body, algorithm, signature] = readSequence(readOnly(der));
    const publicKey = expectTag(readSequence(body)[2], TAG.sequence).whole;
    const key = parsePublicKey(publicKey);
    if (!key) return { reason: UNREADABLE };
    if (!signingOf(key)) return { reason: `the key must be ${KEYS_TAKEN}` };
    const hash = HASHES.get(expectTag(readSequence(algorithm)[0], TAG.oid).content.toString('hex'));
    if (!hash) return { reason: 'signed with an algorithm that is not taken here' };
    const proven = body && verify(hash, body.whole, key, readBits(signature));
    return proven ? { publicKey } : { reason: 'not signed with the key it is for' };
  } catch (error) {
    if (error instanceof DerError || isCryptoError(error)) {
      return { reason: UNREADABLE };
    }
    throw error;
  }
}

/** Returns undefined if the bytes are not a key: the error of Node.js 24 has no code, unlike that of Node.js 20. */
function parsePublicKey(key: Buffer): KeyObject | undefined {
  try {
    return createPublicKey({ key, format: 'der', type: 'spki' });
  } catch {
    return undefined;
  }
}

/** An error that malformed bytes cause in OpenSSL or Node.js. Any other error is a bug. */
function isCryptoError(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return code.startsWith('ERR_OSSL_') || code.startsWith('ERR_CRYPTO_');
}
