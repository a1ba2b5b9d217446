import type { Secrets } from '@gantry/daemon/secrets';

/**
 * The token of a billing link says for whom and until when, and carries our signature over both. It
 * is kept nowhere: whoever shows it within its time was given it.
 */
const PREFIX = 'gantry_bl_';
const PURPOSE = 'billing-link';
/** Long enough to find the invoice address, short enough for a link that ends up in a history. */
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

/** The organization a token is for, or undefined: forged or expired. */
export function readBillingToken(
  secrets: Secrets,
  { token, now }: { token: string; now: Date },
): string | undefined {
  const [, organizationId, expiresS, signature] = TOKEN.exec(token) ?? [];
  if (!organizationId || !expiresS || !signature) return undefined;
  if (!secrets.verify(PURPOSE, `${organizationId}_${expiresS}`, signature)) return undefined;
  return now.getTime() < Number(expiresS) * 1000 ? organizationId : undefined;
}
