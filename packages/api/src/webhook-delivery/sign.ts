import { createHmac, randomBytes } from 'node:crypto';

/** Signatures as in https://www.standardwebhooks.com: HMAC-SHA256 over the id, the time and the body. */

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

export function newWebhookSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

export type SignedMessage = { id: string; timestampS: number; body: string };

/** The headers of a message. It has one signature for each secret, so that a receiver may know either of them. */
export function signatureHeaders(
  { id, timestampS, body }: SignedMessage,
  secrets: readonly string[],
): Record<string, string> {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestampS}.${body}`).digest('base64')}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestampS),
    'webhook-signature': signatures.join(' '),
  };
}
