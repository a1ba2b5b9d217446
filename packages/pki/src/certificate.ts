import { createHash, type KeyObject, randomBytes, sign } from 'node:crypto';
import {
  bitString,
  contextTag,
  integer,
  octetString,
  oid,
  readBits,
  readOnly,
  readSequence,
  sequence,
  TAG,
  TRUE,
  time,
  write,
} from './der.ts';
import type { Signing } from './keys.ts';
import { toPem } from './pem.ts';

/** X.509 certificates, version 3 (RFC 5280). */

export const KEY_USAGE = { digitalSignature: 0x80, certificateSign: 0x04, crlSign: 0x02 } as const;
export const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';
export const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';

export type Validity = { notBefore: Date; notAfter: Date };
export type Issuer = { name: Buffer; keyId: Buffer | undefined; key: KeyObject; signing: Signing };
export type Certificate = { pem: string; serial: string; notAfter: Date };

type Profile = {
  issuer: Issuer;
  /** A distinguished name in DER. */
  subject: Buffer;
  /** SubjectPublicKeyInfo in DER. */
  publicKey: Buffer;
  validity: Validity;
  extensions: Buffer[];
};

const VERSION_3 = write(contextTag(0, true), write(TAG.integer, Buffer.from([2])));

/** Signed by the issuer. Serial numbers are random, so that no counter is needed. */
export function signCertificate(profile: Profile): Certificate {
  const { issuer, subject, publicKey, validity, extensions } = profile;
  const serial = newSerial();
  const body = sequence(
    VERSION_3,
    integer(serial),
    issuer.signing.algorithm,
    issuer.name,
    sequence(time(validity.notBefore), time(validity.notAfter)),
    subject,
    publicKey,
    write(contextTag(3, true), sequence(...extensions, ...keyIds(issuer, publicKey))),
  );
  const signature = sign(issuer.signing.hash, body, issuer.key);
  const der = sequence(body, issuer.signing.algorithm, bitString(signature));
  return {
    pem: toPem('CERTIFICATE', der),
    serial: serial.toString('hex'),
    notAfter: wholeSecond(validity.notAfter),
  };
}

/** 128 bits that are a positive number and always have 32 hex digits. */
function newSerial(): Buffer {
  const bytes = randomBytes(16);
  bytes.writeUInt8((bytes.readUInt8(0) & 0x3f) | 0x40, 0);
  return bytes;
}

const wholeSecond = (moment: Date) => new Date(Math.floor(moment.getTime() / 1000) * 1000);

const extension = (id: string, value: Buffer, critical = false) =>
  sequence(oid(id), ...(critical ? [TRUE] : []), octetString(value));

export const notAnAuthority = () => extension('2.5.29.19', sequence(), true);

/** May sign certificates of hosts and schedulers, but no other authority. */
export const anAuthority = () =>
  extension('2.5.29.19', sequence(TRUE, write(TAG.integer, Buffer.from([0]))), true);

export function keyUsage(bits: number): Buffer {
  let unused = 0;
  while (((bits >> unused) & 1) === 0) unused += 1;
  return extension('2.5.29.15', bitString(Buffer.from([bits]), unused), true);
}

export const extendedKeyUsage = (purpose: string) => extension('2.5.29.37', sequence(oid(purpose)));

/** Names in the format of `subject-alt-names.ts`. */
export const subjectAltNames = (names: Buffer[]) => extension('2.5.29.17', sequence(...names));

const SUBJECT_KEY_ID = '2.5.29.14';

function keyIds(issuer: Issuer, publicKey: Buffer): Buffer[] {
  const own = extension(SUBJECT_KEY_ID, octetString(keyIdOf(publicKey)));
  if (!issuer.keyId) return [own];
  const above = write(contextTag(0, false), issuer.keyId);
  return [own, extension('2.5.29.35', sequence(above))];
}

/** The first 160 bits of the SHA-256 of the key itself. */
export function keyIdOf(publicKey: Buffer): Buffer {
  const [, bits] = readSequence(readOnly(publicKey));
  return createHash('sha256').update(readBits(bits)).digest().subarray(0, 20);
}

/** What the certificates that it issues must contain: its name and, if it has one, its key id. */
export function readIssuer(certificateRaw: Buffer): { name: Buffer; keyId: Buffer | undefined } {
  const [body] = readSequence(readOnly(certificateRaw));
  const fields = readSequence(body).filter(({ tag }) => tag !== contextTag(0, true));
  const name = fields[4]?.whole;
  if (!name) throw new Error('the certificate has no subject');
  const extensions = fields.find(({ tag }) => tag === contextTag(3, true));
  if (!extensions) return { name, keyId: undefined };
  const wanted = oid(SUBJECT_KEY_ID);
  for (const entry of readSequence(readOnly(extensions.content))) {
    const parts = readSequence(entry);
    const value = parts.at(-1);
    if (value && parts[0]?.whole.equals(wanted)) {
      return { name, keyId: readOnly(value.content).content };
    }
  }
  return { name, keyId: undefined };
}
