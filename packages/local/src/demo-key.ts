import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto';
import { type Home, readIfThere, writePrivateFile } from './home.ts';

/** The OpenSSH line of a key of the home's own, so that the printed example works as it stands. */
export async function ensureDemoPublicKey(home: Home): Promise<string> {
  const file = home.file('demo_ed25519');
  const kept = parseKey(await readIfThere(file));
  if (kept) return renderPublicKey(createPublicKey(kept));
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  await writePrivateFile(file, privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
  return renderPublicKey(publicKey);
}

function parseKey(pem: string | undefined): KeyObject | undefined {
  try {
    const key = createPrivateKey(pem ?? '');
    return key.asymmetricKeyType === 'ed25519' ? key : undefined;
  } catch {
    return undefined;
  }
}

/** RFC 8709: the type's name and the 32 bytes of the key, each after its length. */
export function renderPublicKey(key: KeyObject): string {
  const type = 'ssh-ed25519';
  const raw = Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url');
  const blob = Buffer.concat([withLength(Buffer.from(type)), withLength(raw)]);
  return `${type} ${blob.toString('base64')} gantry-demo`;
}

function withLength(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
