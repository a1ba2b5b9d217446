import { createHmac } from 'node:crypto';
import { expect } from 'vitest';
import type { Login, TestConsole } from './start-console.ts';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const STEP_MS = 30_000;

/** Creates a user with a second factor. Returns its secret. */
export async function addSecondFactor({ api, client }: TestConsole, person: Login) {
  await client.admin('POST', '/users', person);
  const post = async (path: string, body: object, token = '') => {
    const response = await fetch(`${api.url}/v0.1/auth${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify(body),
    });
    expect(response.status, path).toBe(200);
    return (await response.json()) as Record<string, string>;
  };
  const { access_token = '' } = await post('/token', { grant_type: 'password', ...person });
  const { secret = '' } = await post('/totp', { password: person.password }, access_token);
  await post('/totp:confirm', { totp: totpCode(secret, Date.now()) }, access_token);
  return secret;
}

/** The code that an authenticator app shows at a time, after RFC 6238. */
export function totpCode(secret: string, atMs: number): string {
  const bits = [...secret.replace(/=+$/, '')]
    .map((letter) => ALPHABET.indexOf(letter).toString(2).padStart(5, '0'))
    .join('');
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(atMs / STEP_MS)));
  const digest = createHmac('sha1', key).update(counter).digest();
  const number = digest.readUInt32BE((digest.at(-1) ?? 0) & 15) & 0x7fffffff;
  return String(number % 1_000_000).padStart(6, '0');
}
