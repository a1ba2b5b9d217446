import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto';
import { type Home, readIfThere, writePrivateFile } from './home.ts';

export type DemoKey = {
  /** A line for authorized_keys. */
  publicLine: string;
  /** The file for ssh -i. */
  identityFile: string;
};

/** Creates an SSH key in the home, so that the printed example works without changes. */
export async function ensureDemoKey(home: Home): Promise<DemoKey> {
  const file = home.file('demo_ed25519');
  const privateKey = parseKey(await readIfThere(file)) ?? generateKeyPairSync('ed25519').privateKey;
  await writePrivateFile(file, privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
  // Before version 9.6, ssh reads Ed25519 keys only in the OpenSSH format.
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

/** RFC 8709: the name of the type and the 32 bytes of the key, each preceded by its length. */
function publicBlob(key: KeyObject): Buffer {
  return Buffer.concat([withLength(TYPE), withLength(rawPart(key, 'x'))]);
}

/** The format of OpenSSH's PROTOCOL.key, without a passphrase. */
function renderPrivateKey(key: KeyObject): string {
  const [seed, point] = [rawPart(key, 'd'), rawPart(key, 'x')];
  // The same number twice: readers compare them to detect a wrong passphrase.
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

/** Pads to a multiple of eight bytes with the bytes 1, 2, 3 and so on. */
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
