import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/**
 * Time-based one-time passwords by RFC 6238, in the form that every authenticator app supports:
 * HMAC-SHA-1, 30 seconds, six digits. They are a few lines of node:crypto, and the RFC has test
 * vectors, so a dependency would cost more than it saves.
 */
const STEP_MS = 30_000;
const DIGITS = 6;
/** A code is also accepted one step early and one step late, because clocks differ. */
const LEEWAY_STEPS = 1;
/** The length that RFC 4226 recommends: that of the hash. */
const SECRET_BYTES = 20;
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Returns a secret in base32, as people type it into an app. */
export function newTotpSecret(): string {
  return toBase32(randomBytes(SECRET_BYTES));
}

/** What an app reads from a QR code. */
export function totpUrl({ secret, email }: { secret: string; email: string }): string {
  const account = encodeURIComponent(`Gantry:${email}`);
  return `otpauth://totp/${account}?secret=${secret}&issuer=Gantry`;
}

export const totpStep = (nowMs: number): number => Math.floor(nowMs / STEP_MS);

/** Returns the code of one step. */
export function totpCode(secret: string, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const digest = createHmac('sha1', fromBase32(secret)).update(counter).digest();
  const offset = digest.readUInt8(digest.length - 1) & 0xf;
  const number = digest.readUInt32BE(offset) & 0x7fffffff;
  return String(number % 10 ** DIGITS).padStart(DIGITS, '0');
}

type Acceptance = { secret: string; code: string; nowMs: number; lastStep: number };

/**
 * Returns the step of the code, or undefined if the code is wrong. A code works once: steps up to
 * `lastStep`, the step of the last accepted code, are not accepted again.
 */
export function acceptTotp({ secret, code, nowMs, lastStep }: Acceptance): number | undefined {
  const now = totpStep(nowMs);
  for (let step = now - LEEWAY_STEPS; step <= now + LEEWAY_STEPS; step += 1) {
    if (step > lastStep && isEqual(totpCode(secret, step), code)) return step;
  }
  return undefined;
}

function isEqual(expected: string, given: string): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(given)];
  return a.length === b.length && timingSafeEqual(a, b);
}

export function toBase32(bytes: Buffer): string {
  let bits = '';
  for (const byte of bytes) bits += byte.toString(2).padStart(8, '0');
  const groups = bits.match(/.{1,5}/g) ?? [];
  return groups.map((group) => BASE32[Number.parseInt(group.padEnd(5, '0'), 2)]).join('');
}

function fromBase32(text: string): Buffer {
  let bits = '';
  for (const character of text) bits += BASE32.indexOf(character).toString(2).padStart(5, '0');
  const bytes = (bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2));
  return Buffer.from(bytes);
}
