import { randomBytes } from 'node:crypto';
import { sha256 } from '@gantry/daemon/secrets';

/**
 * Secrets for clients consist of a prefix that secret scanners recognize, 192 random bits, and a
 * checksum. The checksum makes it possible to refuse a mistyped or invented secret without a query.
 */
const PREFIXES = {
  access_key: 'gantry_ak_',
  refresh_token: 'gantry_rt_',
  join_token: 'gantry_jt_',
  console_ticket: 'gantry_ct_',
  invitation: 'gantry_in_',
} as const;
type KeyKind = keyof typeof PREFIXES;

const BODY_LENGTH = 32;
const CHECKSUM_LENGTH = 6;

export function newKey(kind: KeyKind): string {
  const body = randomBytes(24).toString('base64url');
  return PREFIXES[kind] + body + checksum(PREFIXES[kind] + body);
}

export function isKey(kind: KeyKind, text: string): boolean {
  const prefix = PREFIXES[kind];
  const bodyEnd = prefix.length + BODY_LENGTH;
  return (
    text.length === bodyEnd + CHECKSUM_LENGTH &&
    text.startsWith(prefix) &&
    checksum(text.slice(0, bodyEnd)) === text.slice(bodyEnd)
  );
}

function checksum(text: string): string {
  return sha256(text).slice(0, CHECKSUM_LENGTH);
}
