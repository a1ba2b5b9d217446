import type { Secrets } from '@gantry/daemon/secrets';

/**
 * The token of a billing link holds the organization, the expiry time and a signature over both. It
 * is not stored: a valid signature proves that this installation issued the token.
 */
const PREFIX = 'gantry_bl_';
const PURPOSE = 'billing-link';
/**
 * Long enough to look the invoice address up, and short for a link that stays in browser histories.
 */
const LIFETIME_S = 15 * 60;
const TOKEN = /^gantry_bl_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})_([0-9]{1,12})_([\w-]{43})$/;

export function signBillingToken(
  secrets: Secrets,
  { organizationId, now }: { organizationId: string; now: Date },
): string {
  const expiresS = Math.floor(now.getTime() / 1000) + LIFETIME_S;
  const claim = `${organizationId}_${expiresS}`;
  return `${PREFIX}${claim}_${secrets.sign(PURPOSE, claim)}`;
}

/** Returns the organization of a token, or undefined if the token is forged or expired. */
export function readBillingToken(
  secrets: Secrets,
  { token, now }: { token: string; now: Date },
): string | undefined {
  const [, organizationId, expiresS, signature] = TOKEN.exec(token) ?? [];
  if (!organizationId || !expiresS || !signature) return undefined;
  if (!secrets.verify(PURPOSE, `${organizationId}_${expiresS}`, signature)) return undefined;
  return now.getTime() < Number(expiresS) * 1000 ? organizationId : undefined;
}
