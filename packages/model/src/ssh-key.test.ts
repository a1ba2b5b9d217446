import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import sshpk from 'sshpk';
import { describe, expect, it } from 'vitest';
import { sshFingerprint, sshKeyProblem } from './ssh-key.ts';

const openSsh = (key: KeyObject) =>
  sshpk.parseKey(key.export({ type: 'spki', format: 'pem' }), 'pem').toString('ssh');
const rsa = (bits: number) =>
  openSsh(generateKeyPairSync('rsa', { modulusLength: bits }).publicKey);
const ecdsa = (curve: string) =>
  openSsh(generateKeyPairSync('ec', { namedCurve: curve }).publicKey);
const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const ed25519 = openSsh(publicKey);

const frame = (...fields: (string | Buffer)[]) =>
  Buffer.concat(
    fields.flatMap((field) => {
      const bytes = Buffer.from(field as string);
      const length = Buffer.alloc(4);
      length.writeUInt32BE(bytes.length);
      return [length, bytes];
    }),
  ).toString('base64');
const SK_ED25519 = 'sk-ssh-ed25519@openssh.com';
const SK_ECDSA = 'sk-ecdsa-sha2-nistp256@openssh.com';

describe('sshKeyProblem accepts', () => {
  it.each([
    ['ed25519', ed25519],
    ['ecdsa 256', ecdsa('prime256v1')],
    ['ecdsa 384', ecdsa('secp384r1')],
    ['ecdsa 521', ecdsa('secp521r1')],
    ['rsa 2048', rsa(2048)],
    ['a comment with spaces', `${ed25519.split(' ').slice(0, 2).join(' ')} someone at home`],
    ['no comment', ed25519.split(' ').slice(0, 2).join(' ')],
    ['a line end', `${ed25519}\n`],
    ['sk-ed25519', `${SK_ED25519} ${frame(SK_ED25519, randomBytes(32), 'ssh:')}`],
    ['sk-ecdsa', `${SK_ECDSA} ${frame(SK_ECDSA, 'nistp256', randomBytes(65), 'ssh:')}`],
  ])('%s', (_name, key) => expect(sshKeyProblem(key)).toBeUndefined());
});

describe('sshKeyProblem gives the reason for', () => {
  it.each([
    ['an RSA key below 2048 bits', rsa(1024), /1024 bits/],
    ['a private key', `${privateKey.export({ type: 'pkcs8', format: 'pem' })}`, /private key/],
    ['two keys', `${ed25519}\n${ed25519}`, /one line/],
    ['a DSA key', 'ssh-dss AAAAB3NzaC1kc3MAAAA=', /DSA/],
    ['another type than the data', ed25519.replace('ssh-ed25519', 'ssh-rsa'), /another type/],
    ['data that is not base64', 'ssh-ed25519 not*base64', /base64/],
    ['data that ends early', ed25519.slice(0, 60), /damaged/],
    ['no data', 'ssh-ed25519', /base64/],
    ['text', 'my key', /must be an OpenSSH public key/],
    ['nothing', '', /must be an OpenSSH public key/],
    ['options in front', `command="rm -rf /" ${ed25519}`, /must be an OpenSSH public key/],
    [
      'a token key with fields missing',
      `${SK_ED25519} ${frame(SK_ED25519, randomBytes(32))}`,
      /damaged/,
    ],
    ['control characters', `${ed25519} \u0000`, /control/],
    ['a very long comment', `${ed25519} ${'x'.repeat(20_000)}`, /too long/],
  ])('%s', (_name, key, reason) => expect(sshKeyProblem(key)).toMatch(reason));
});

it('the fingerprint is the one that ssh-keygen prints, whatever the comment is', () => {
  const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGnZ0P5QvE0y4tH0zvYt0rR0lKqM3p5D0m5lqDkZ5sYx';
  for (const text of [key, `${key} me@home`, ` ${key}\n`]) {
    expect(sshFingerprint(text)).toBe('SHA256:S6LEaCevjb3vEigpa69aWlz22RyLP8soKQkakvrhauI');
  }
});
