import { sha256 } from '@gantry/daemon/secrets';
import type { Queryable } from '@gantry/db/connect';
import { recordLoginSource } from '@gantry/db/queries/tenants/logins';
import { insertRefreshToken } from '@gantry/db/queries/tenants/tokens';
import { TOKEN_LIFETIME_S } from '../auth/access-tokens.ts';
import { newKey } from '../auth/keys.ts';
import { storable } from '../auth/login-log.ts';
import { sourceOf } from '../auth/source.ts';
import type { Deps } from '../deps.ts';

/** How long a login stays valid if its refresh token is not used. */
const REFRESH_LIFETIME_MS = 30 * 86_400_000;

type NewTokens = {
  deps: Deps;
  /** The transaction in which `lockTokenGeneration` returned the generation. */
  sql: Queryable;
  userId: string;
  generation: number;
  familyId: string;
  sourceIp: string;
  userAgent: string;
};

/** Stores a new refresh token, and returns it with a new access token. */
export async function newTokens(request: NewTokens) {
  const { deps, sql, userId, generation, familyId, sourceIp } = request;
  const refreshToken = newKey('refresh_token');
  const expiresAt = new Date(deps.clock.nowMs() + REFRESH_LIFETIME_MS);
  await insertRefreshToken(sql, {
    ...{ hash: sha256(refreshToken), familyId, userId, expiresAt, sourceIp },
    userAgent: storable(request.userAgent),
  });
  await recordLoginSource(sql, { userId, source: sourceOf(sourceIp) });
  return {
    access_token: await deps.tokens.issue(userId, generation, familyId),
    refresh_token: refreshToken,
    expires_in: TOKEN_LIFETIME_S,
    token_type: 'bearer' as const,
  };
}
