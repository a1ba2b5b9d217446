import {
  type CertificateAuthority,
  loadAuthority,
  makeAuthority,
} from '@gantry/pki/certificate-authority';
import { issueHostCertificate } from '@gantry/pki/issue-certificate';
import { makePrivateKey, privateKeyPem, publicKeyOf } from '@gantry/pki/keys';
import { expect, it } from 'vitest';
import { isOfAuthorities } from './identity.ts';

const HOST_ID = '01990000-0000-7000-8000-00000000abcd';
const [old, fresh] = [loadAuthority(makeAuthority()), loadAuthority(makeAuthority())];
const sha = (...authorities: CertificateAuthority[]) => authorities.map((each) => each.fingerprint);

function identityOf(issuer: CertificateAuthority, trusted: CertificateAuthority[]) {
  const key = makePrivateKey();
  const { pem } = issueHostCertificate(issuer, {
    ...{ hostId: HOST_ID, publicKey: publicKeyOf(key), ttlMs: 3_600_000 },
  });
  const caPem = trusted.map(({ certificatePem }) => certificatePem).join('');
  return { hostId: HOST_ID, keyPem: privateKeyPem(key), certificatePem: pem, caPem };
}

it('a certificate is renewed at each step of a rotation, and not twice', () => {
  const steps = [sha(old), sha(fresh, old), sha(fresh)];
  const current = (identity: ReturnType<typeof identityOf>) =>
    steps.map((authorities) => isOfAuthorities(identity, authorities));
  expect(current(identityOf(old, [old]))).toEqual([true, false, false]);
  expect(current(identityOf(fresh, [fresh, old]))).toEqual([false, true, false]);
  expect(current(identityOf(fresh, [fresh]))).toEqual([false, false, true]);
});

it('a certificate of a trusted authority that does not issue is renewed', () => {
  expect(isOfAuthorities(identityOf(old, [fresh, old]), sha(fresh, old))).toBe(false);
});
