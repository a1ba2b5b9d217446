import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  anAuthority,
  CLIENT_AUTH,
  extendedKeyUsage,
  notAnAuthority,
  SERVER_AUTH,
  signCertificate,
  subjectAltNames,
} from './certificate.ts';
import { loadAuthority, makeAuthority } from './certificate-authority.ts';
import { distinguishedName } from './distinguished-name.ts';
import { hostIdentity } from './host-identity.ts';
import { issueHostCertificate, issueServerCertificate } from './issue-certificate.ts';
import { makePrivateKey, publicKeyOf } from './keys.ts';
import { serverName, uriName } from './subject-alt-names.ts';

const HOST_ID = '01990000-0000-7000-8000-00000000abcd';
const HOUR_MS = 3_600_000;
const now = new Date('2026-11-15T12:00:00.500Z');
const later = (ms: number) => new Date(now.getTime() + ms);

const authority = loadAuthority(makeAuthority({ now }));
const publicKey = publicKeyOf(makePrivateKey());
const raw = (pem: string) => new X509Certificate(pem).raw;
const identify = (pem: string, at = now, from = [authority]) =>
  hostIdentity(
    raw(pem),
    from.map(({ certificate }) => certificate),
    at,
  );

const host = () =>
  issueHostCertificate(authority, { hostId: HOST_ID, publicKey, ttlMs: HOUR_MS, now });

/** A certificate that the authority signed, but not for a host. */
const signed = (...extensions: Buffer[]) =>
  signCertificate({
    ...{ issuer: authority.issuer, publicKey, extensions },
    subject: distinguishedName(HOST_ID),
    validity: { notBefore: later(-HOUR_MS), notAfter: later(HOUR_MS) },
  }).pem;

const forHost = () => subjectAltNames([uriName(`urn:gantry:host:${HOST_ID}`)]);

describe("a host's certificate", () => {
  it('identifies the host', () => {
    const { pem, serial, notAfter } = host();
    const issuedAt = new Date('2026-11-15T12:00:00Z');
    expect(identify(pem)).toEqual({
      ...{ hostId: HOST_ID, serial, issuedAt, notAfter, authority: authority.fingerprint },
    });
    expect(serial).toMatch(/^[4-7][0-9a-f]{31}$/);
    expect(notAfter).toEqual(new Date('2026-11-15T13:00:00Z'));
    expect(new X509Certificate(pem).subject).toBe(`CN=${HOST_ID}`);
  });

  it('is accepted if one of several authorities issued it', () => {
    const others = [loadAuthority(makeAuthority()), authority, loadAuthority(makeAuthority())];
    expect(identify(host().pem, now, others)).toHaveProperty('hostId', HOST_ID);
  });

  it('is valid from some minutes before it was issued until it expires', () => {
    const { pem } = host();
    expect(identify(pem, later(-4 * 60_000))).toHaveProperty('hostId');
    expect(identify(pem, later(-6 * 60_000))).toHaveProperty('reason');
    expect(identify(pem, later(HOUR_MS - 1_000))).toHaveProperty('hostId');
    expect(identify(pem, later(HOUR_MS))).toEqual({ reason: 'the certificate is not valid now' });
  });

  it('never outlives its authority', () => {
    const ttlMs = 100 * 365 * 24 * HOUR_MS;
    const { notAfter } = issueHostCertificate(authority, { hostId: HOST_ID, publicKey, ttlMs });
    expect(notAfter).toEqual(authority.notAfter);
  });

  it('has a unique serial number', () => {
    expect(new Set(Array.from({ length: 50 }, () => host().serial)).size).toBe(50);
  });
});

describe('no host is identified by', () => {
  it('a certificate of another authority, even one with the same name and key id', () => {
    const other = loadAuthority(makeAuthority({ now }));
    const { name, keyId } = authority.issuer;
    const twin = { ...other, issuer: { ...other.issuer, name, keyId } };
    for (const from of [other, twin]) {
      const { pem } = issueHostCertificate(from, {
        ...{ hostId: HOST_ID, publicKey, ttlMs: HOUR_MS, now },
      });
      expect(identify(pem)).toEqual({ reason: 'the certificate is not of this fleet' });
    }
  });

  it("a scheduler's certificate", () => {
    const { pem } = issueServerCertificate(authority, { names: ['a.test'], ttlMs: HOUR_MS, now });
    expect(identify(pem)).toEqual({ reason: 'the certificate is not for clients' });
  });

  it("the authority's own certificate", () => {
    expect(identify(authority.certificatePem)).toHaveProperty('reason');
  });

  it.each([
    ['no purpose', () => [notAnAuthority(), forHost()]],
    ['the purpose of a server', () => [notAnAuthority(), extendedKeyUsage(SERVER_AUTH), forHost()]],
    ['no name', () => [notAnAuthority(), extendedKeyUsage(CLIENT_AUTH)]],
    [
      'a name of another kind',
      () => [notAnAuthority(), extendedKeyUsage(CLIENT_AUTH), subjectAltNames([serverName('a.b')])],
    ],
    [
      'a name beside its own',
      () => [
        notAnAuthority(),
        extendedKeyUsage(CLIENT_AUTH),
        subjectAltNames([uriName(`urn:gantry:host:${HOST_ID}`), serverName('a.b')]),
      ],
    ],
    [
      'a name that is no id',
      () => [
        notAnAuthority(),
        extendedKeyUsage(CLIENT_AUTH),
        subjectAltNames([uriName('urn:gantry:host:root')]),
      ],
    ],
    ['the right to sign others', () => [anAuthority(), extendedKeyUsage(CLIENT_AUTH), forHost()]],
  ])('a certificate with %s', (_name, extensions) => {
    expect(identify(signed(...extensions()))).toHaveProperty('reason');
    expect(
      identify(signed(notAnAuthority(), extendedKeyUsage(CLIENT_AUTH), forHost())),
    ).toHaveProperty('hostId');
  });

  it('bytes that are not a certificate', () => {
    expect(hostIdentity(Buffer.from('hello'), [authority.certificate], now)).toEqual({
      reason: 'the certificate cannot be read',
    });
  });

  it('a certificate of an expired authority', () => {
    const old = loadAuthority(makeAuthority({ now: new Date('1999-01-01') }));
    const { pem } = signCertificate({
      ...{ issuer: old.issuer, publicKey, subject: distinguishedName(HOST_ID) },
      validity: { notBefore: later(-HOUR_MS), notAfter: later(HOUR_MS) },
      extensions: [notAnAuthority(), extendedKeyUsage(CLIENT_AUTH), forHost()],
    });
    expect(identify(pem, now, [old])).toEqual({
      reason: "the fleet's authority is not valid now",
    });
  });
});
