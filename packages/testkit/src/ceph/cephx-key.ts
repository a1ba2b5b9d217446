import { randomBytes } from 'node:crypto';

/** Returns a new key in Ceph's format: a type, the time of its creation, a length and 16 random bytes, in base64. */
export function makeCephxKey(): string {
  const head = Buffer.alloc(12);
  head.writeUInt16LE(1, 0);
  head.writeUInt32LE(Math.floor(Date.now() / 1000), 2);
  head.writeUInt16LE(16, 10);
  return Buffer.concat([head, randomBytes(16)]).toString('base64');
}

/** Returns an entry of a keyring file. */
export function renderKey(name: string, key: string, caps: Record<string, string> = {}): string {
  const lines = Object.entries(caps).map(([kind, cap]) => `\tcaps ${kind} = "${cap}"`);
  return [`[${name}]`, `\tkey = ${key}`, ...lines, ''].join('\n');
}
