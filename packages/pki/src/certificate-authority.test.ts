import 'reflect-metadata';
import { createHash, generateKeyPairSync, X509Certificate } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { describe, expect, it } from 'vitest';
import { loadAuthority, makeAuthority } from './certificate-authority.ts';
import { makeCertificateRequest, readCertificateRequest } from './certificate-request.ts';
import { parseFingerprint } from './fingerprint.ts';
import { issueHostCertificate, issueServerCertificate } from './issue-certificate.ts';
import { makePrivateKey, privateKeyPem, publicKeyOf } from './keys.ts';

const HOUR_MS = 3_600_000;
const HOST_ID = '01990000-0000-7000-8000-00000000abcd';
const publicKey = publicKeyOf(makePrivateKey());

describe('a new authority', () => {
  const files = makeAuthority();
  const authority = loadAuthority(files);

  it('is self-signed, may sign certificates but no authorities, and has a P-256 key', async () => {
    const { certificate } = authority;
    expect(certificate.verify(certificate.publicKey)).toBe(true);
    expect(certificate.ca).toBe(true);
    expect(certificate.publicKey.asymmetricKeyDetails?.namedCurve).toBe('prime256v1');
    const seen = new x509.X509Certificate(files.certificatePem);
    expect(await seen.isSelfSigned()).toBe(true);
    expect(seen.getExtension(x509.BasicConstraintsExtension)).toMatchObject({
      ...{ ca: true, pathLength: 0, critical: true },
    });
    expect(seen.getExtension(x509.KeyUsagesExtension)?.usages).toBe(
      x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign,
    );
  });

  it('has a fingerprint, which is the SHA-256 of its certificate', () => {
    const { raw, fingerprint256 } = new X509Certificate(files.certificatePem);
    expect(authority.fingerprint).toBe(createHash('sha256').update(raw).digest('hex'));
    expect(parseFingerprint(fingerprint256)).toBe(authority.fingerprint);
    expect(parseFingerprint(authority.fingerprint.slice(1))).toBe(undefined);
  });

  it('issues certificates that other programs can read', async () => {
    const host = issueHostCertificate(authority, { hostId: HOST_ID, publicKey, ttlMs: HOUR_MS });
    const seen = new x509.X509Certificate(host.pem);
    expect(await seen.verify({ publicKey: new x509.X509Certificate(files.certificatePem) })).toBe(
      true,
    );
    expect(seen.serialNumber).toBe(host.serial);
    expect(seen.notAfter).toEqual(host.notAfter);
    expect(seen.getExtension(x509.ExtendedKeyUsageExtension)?.usages).toEqual([
      x509.ExtendedKeyUsage.clientAuth,
    ]);
    expect(seen.getExtension(x509.AuthorityKeyIdentifierExtension)?.keyId).toBe(
      new x509.X509Certificate(files.certificatePem).getExtension(
        x509.SubjectKeyIdentifierExtension,
      )?.keyId,
    );
  });

  it("issues a scheduler's certificate with its addresses and the whole chain", () => {
    const names = ['localhost', '*.fleet.test', '10.0.0.7', '::1', 'fd00::7:1', '::ffff:10.1.2.3'];
    const { chainPem, pem } = issueServerCertificate(authority, { names, ttlMs: HOUR_MS });
    const certificate = new X509Certificate(pem);
    for (const host of ['localhost', 'a.fleet.test'])
      expect(certificate.checkHost(host)).toBeTruthy();
    for (const ip of names.slice(2)) expect(certificate.checkIP(ip)).toBeTruthy();
    expect(certificate.checkIP('10.0.0.8')).toBe(undefined);
    expect(chainPem).toBe(pem + authority.certificatePem);
    expect(() => issueServerCertificate(authority, { names: ['a b'], ttlMs: 1 })).toThrow('"a b"');
  });
});

describe("an operator's authority", () => {
  it.each([
    ['EC P-384', generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey],
    ['RSA 2048', generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey],
  ])('may have a key of the type %s', async (_name, key) => {
    const algorithm =
      key.asymmetricKeyType === 'rsa'
        ? { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
        : { name: 'ECDSA', namedCurve: 'P-384', hash: 'SHA-384' };
    const der = (half: 'pkcs8' | 'spki') =>
      half === 'pkcs8' ? key.export({ format: 'der', type: half }) : publicKeyOf(key);
    const keys = {
      privateKey: await crypto.subtle.importKey('pkcs8', der('pkcs8'), algorithm, true, ['sign']),
      publicKey: await crypto.subtle.importKey('spki', der('spki'), algorithm, true, ['verify']),
    };
    const made = await x509.X509CertificateGenerator.createSelfSigned({
      ...{ name: 'CN=Ours, O="Some, Company"', keys, signingAlgorithm: algorithm },
      extensions: [new x509.BasicConstraintsExtension(true, undefined, true)],
    });
    const authority = loadAuthority({
      certificatePem: made.toString('pem'),
      privateKeyPem: privateKeyPem(key),
    });
    const requested = readCertificateRequest(makeCertificateRequest().csrPem);
    if (!('publicKey' in requested)) throw new Error(requested.reason);
    const { pem } = issueHostCertificate(authority, {
      ...{ hostId: HOST_ID, publicKey: requested.publicKey, ttlMs: HOUR_MS },
    });
    const host = new X509Certificate(pem);
    expect(host.checkIssued(authority.certificate)).toBe(true);
    expect(host.verify(authority.certificate.publicKey)).toBe(true);
  });

  it('is refused if the key does not match or the certificate is no authority', () => {
    const [one, two] = [makeAuthority(), makeAuthority()];
    expect(() => loadAuthority({ ...one, privateKeyPem: two.privateKeyPem })).toThrow(
      'the key does not match',
    );
    const key = makePrivateKey();
    const { pem } = issueHostCertificate(loadAuthority(one), {
      ...{ hostId: HOST_ID, publicKey: publicKeyOf(key), ttlMs: HOUR_MS },
    });
    expect(() => loadAuthority({ certificatePem: pem, privateKeyPem: privateKeyPem(key) })).toThrow(
      'is not a certificate authority',
    );
  });
});
