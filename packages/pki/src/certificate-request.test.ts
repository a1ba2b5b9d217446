import 'reflect-metadata';
import { createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { Pkcs10CertificateRequest } from '@peculiar/x509';
import { describe, expect, it } from 'vitest';
import { makeCertificateRequest, readCertificateRequest } from './certificate-request.ts';
import { bitString, contextTag, oid, sequence, TAG, write } from './der.ts';
import { distinguishedName } from './distinguished-name.ts';
import { fromPem, toPem } from './pem.ts';

const LABEL = 'CERTIFICATE REQUEST';
const ECDSA_SHA256 = '1.2.840.10045.4.3.2';
const RSA_SHA256 = '1.2.840.113549.1.1.11';

/** A request as another program makes it, for any key and signed by any key. */
function requestOf(key: KeyObject, algorithm: string, signer = key): string {
  const body = sequence(
    write(TAG.integer, Buffer.from([0])),
    distinguishedName('anything'),
    createPublicKey(key).export({ format: 'der', type: 'spki' }),
    write(contextTag(0, true)),
  );
  const hash = signer.asymmetricKeyType === 'ed25519' ? null : 'sha256';
  return toPem(
    LABEL,
    sequence(body, sequence(oid(algorithm)), bitString(sign(hash, body, signer))),
  );
}

const curve = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve }).privateKey;
const rsa = (modulusLength: number) => generateKeyPairSync('rsa', { modulusLength }).privateKey;

describe('a new certificate request', () => {
  it('is accepted by other programs', async () => {
    const { csrPem } = makeCertificateRequest();
    expect(await new Pkcs10CertificateRequest(csrPem).verify()).toBe(true);
  });

  it('is for a new key each time, or for the key given', () => {
    const first = makeCertificateRequest();
    const second = makeCertificateRequest();
    expect(second.privateKeyPem).not.toBe(first.privateKeyPem);
    const again = makeCertificateRequest({ privateKeyPem: first.privateKeyPem });
    expect(readCertificateRequest(again.csrPem)).toEqual(readCertificateRequest(first.csrPem));
  });
});

describe('reading a request', () => {
  it.each([
    ['EC P-256', curve('P-256'), ECDSA_SHA256],
    ['EC P-384', curve('P-384'), ECDSA_SHA256],
    ['RSA 2048', rsa(2048), RSA_SHA256],
  ])('returns a key of the type %s', (_name, key, algorithm) => {
    const publicKey = createPublicKey(key).export({ format: 'der', type: 'spki' });
    expect(readCertificateRequest(requestOf(key, algorithm))).toEqual({ publicKey });
  });

  it.each([
    ['RSA 1024', rsa(1024), RSA_SHA256],
    ['EC P-521', curve('P-521'), ECDSA_SHA256],
    ['EC secp256k1', curve('secp256k1'), ECDSA_SHA256],
    ['Ed25519', generateKeyPairSync('ed25519').privateKey, '1.3.101.112'],
  ])('refuses a key of the type %s', (_name, key, algorithm) => {
    expect(readCertificateRequest(requestOf(key, algorithm))).toEqual({
      reason: expect.stringContaining('the key must be'),
    });
  });

  it('refuses a request that was not signed with its key', () => {
    const forged = requestOf(curve('P-256'), ECDSA_SHA256, curve('P-256'));
    expect(readCertificateRequest(forged)).toEqual({ reason: 'not signed with the key it is for' });
  });

  it('refuses a signature with SHA-1', () => {
    expect(readCertificateRequest(requestOf(curve('P-256'), '1.2.840.10045.4.1'))).toEqual({
      reason: expect.stringContaining('algorithm'),
    });
  });

  it('refuses a request with a changed bit or a missing end, and never throws', () => {
    const der = fromPem([LABEL], makeCertificateRequest().csrPem) ?? Buffer.alloc(0);
    for (let at = 0; at < der.length; at += 1) {
      const changed = Buffer.from(der);
      changed.writeUInt8(changed.readUInt8(at) ^ (1 << (at % 8)), at);
      expect(readCertificateRequest(toPem(LABEL, changed))).toHaveProperty('reason');
      expect(readCertificateRequest(toPem(LABEL, der.subarray(0, at)))).toHaveProperty('reason');
    }
  });

  it.each([
    ['nothing', ''],
    ['no PEM', 'hello'],
    ['something else in PEM', toPem('CERTIFICATE', Buffer.from('3000', 'hex'))],
    ['an empty value', toPem(LABEL, Buffer.from('3000', 'hex'))],
    ['something too long', makeCertificateRequest().csrPem + ' '.repeat(20_000)],
    ['a length beyond its end', toPem(LABEL, Buffer.from('3084ffffffff', 'hex'))],
  ])('refuses %s', (_name, csrPem) => {
    expect(readCertificateRequest(csrPem)).toHaveProperty('reason');
  });
});
