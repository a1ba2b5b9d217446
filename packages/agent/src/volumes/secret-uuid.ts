import { createHash } from 'node:crypto';

/** Only UUIDs of this namespace are Gantry's: a random UUID of version 4, chosen once. */
const NAMESPACE = Buffer.from('6f1c4e2b90d7489cb3a59e8d7c0f5a12', 'hex');

/**
 * Returns the UUID of libvirt's secret for a key or a passphrase of a volume: a UUID of version 5 (RFC 9562). It is
 * derived from the usage of the secret, so the agent finds its secrets again after a restart and recognises which ones are its own.
 */
export function uuidOfUsage(usage: string): string {
  const hash = createHash('sha1').update(NAMESPACE).update(usage).digest();
  const bytes = hash.subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

export const secretUuidOf = (user: string): string => uuidOfUsage(usageOf(user));
export const passphraseUuidOf = (user: string): string => uuidOfUsage(passphraseUsageOf(user));

const CLIENT = 'client.';
const PASSPHRASE = 'passphrase.';

/** What libvirt calls the usage of the secret: the key's full name. */
export function usageOf(user: string): string {
  return `${CLIENT}${user}`;
}

/** The usage of the secret with the passphrase of the volume that the key opens. */
export function passphraseUsageOf(user: string): string {
  return `${PASSPHRASE}${user}`;
}

/** Returns whether the agent has defined the secret: others do not derive UUIDs in this way. */
export function isOwnSecret({ uuid, usage }: { uuid: string; usage: string }): boolean {
  return [CLIENT, PASSPHRASE].some((kind) => usage.startsWith(kind)) && uuidOfUsage(usage) === uuid;
}
