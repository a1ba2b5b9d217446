import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto';
import { type Home, readIfThere, writePrivateFile } from './home.ts';

export type DemoKey = {
  /** As authorized_keys has it. */
  publicLine: string;
  /** For ssh -i. */
  identityFile: string;
};

/** A key of the home's own, so that the printed example works as it stands. */
export async function ensureDemoKey(home: Home): Promise<DemoKey> {
  const file = home.file('demo_ed25519');
  const privateKey = parseKey(await readIfThere(file)) ?? generateKeyPairSync('ed25519').privateKey;
  await writePrivateFile(file, privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
  // Until version 9.6 ssh reads keys of this kind in its own format only.
  const identityFile = home.file('demo_ssh_identity');
  await writePrivateFile(identityFile, renderPrivateKey(privateKey));
  return { publicLine: renderPublicKey(createPublicKey(privateKey)), identityFile };
}

function parseKey(pem: string | undefined): KeyObject | undefined {
  try {
    const key = createPrivateKey(pem ?? '');
    return key.asymmetricKeyType === 'ed25519' ? key : undefined;
  } catch {
    return undefined;
  }
}

const TYPE = 'ssh-ed25519';
const COMMENT = 'gantry-demo';

function renderPublicKey(key: KeyObject): string {
  return `${TYPE} ${publicBlob(key).toString('base64')} ${COMMENT}`;
}

/** RFC 8709: the type's name and the 32 bytes of the key, each after its length. */
function publicBlob(key: KeyObject): Buffer {
  return Buffer.concat([withLength(TYPE), withLength(rawPart(key, 'x'))]);
}

/** OpenSSH's PROTOCOL.key, without a passphrase. */
function renderPrivateKey(key: KeyObject): string {
  const [seed, point] = [rawPart(key, 'd'), rawPart(key, 'x')];
  // Twice the same number, by which a wrong passphrase would be noticed.
  const check = Buffer.alloc(8);
  const secret = [
    ...[check, withLength(TYPE), withLength(point)],
    ...[withLength(Buffer.concat([seed, point])), withLength(COMMENT)],
  ];
  const blob = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    ...[withLength('none'), withLength('none'), withLength(''), number(1)],
    ...[withLength(publicBlob(key)), withLength(padded(Buffer.concat(secret)))],
  ]);
  const lines = blob.toString('base64').match(/.{1,70}/g) ?? [];
  const [begin, end] = ['BEGIN', 'END'].map((word) => `-----${word} OPENSSH PRIVATE KEY-----`);
  return `${[begin, ...lines, end].join('\n')}\n`;
}

function rawPart(key: KeyObject, part: 'x' | 'd'): Buffer {
  return Buffer.from(key.export({ format: 'jwk' })[part] ?? '', 'base64url');
}

/** To blocks of eight bytes, with 1, 2, 3 and so on. */
function padded(bytes: Buffer): Buffer {
  const count = (8 - (bytes.length % 8)) % 8;
  return Buffer.concat([bytes, Buffer.from([1, 2, 3, 4, 5, 6, 7].slice(0, count))]);
}

function withLength(content: Buffer | string): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([number(bytes.length), bytes]);
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
