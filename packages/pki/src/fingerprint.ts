import { createHash } from 'node:crypto';

/** SHA-256 of a certificate in DER, lower-case hex. */
export function fingerprint(certificateRaw: Buffer): string {
  return createHash('sha256').update(certificateRaw).digest('hex');
}

/** Accepts colons, spaces and capitals. Returns undefined if the text is no fingerprint. */
export function parseFingerprint(text: string): string | undefined {
  const digits = text.replace(/[:\s]/g, '').toLowerCase();
  return /^[0-9a-f]{64}$/.test(digits) ? digits : undefined;
}
