import { sha256 } from '@gantry/daemon/secrets';
import type { Queryable } from '@gantry/db/connect';
import {
  claimRefreshToken,
  insertRefreshToken,
  readLogin,
  revokeFamilyOf,
} from '@gantry/db/queries/tenants/tokens';
import { CloudError } from '@gantry/model/errors';
import { newId } from '@gantry/model/ids';
import type { z } from '@hono/zod-openapi';
import { TOKEN_LIFETIME_S } from '../auth/access-tokens.ts';
import { isKey, newKey } from '../auth/keys.ts';
import { passwordMatches } from '../auth/passwords.ts';
import type { Deps } from '../deps.ts';
import type { TokenRequest } from './schema.ts';

/** How long a login stays valid if its refresh token is not used. */
const REFRESH_LIFETIME_MS = 30 * 86_400_000;

type Grant = { deps: Deps; request: z.output<typeof TokenRequest>; sourceIp: string };

/** Issues tokens. A refresh token works once; using it again revokes every token of its login. */
export async function grantTokens({ deps, request, sourceIp }: Grant) {
  switch (request.grant_type) {
    case 'password': {
      deps.loginLimiter.take(`ip ${sourceIp}`);
      deps.loginLimiter.take(`email ${request.email}`);
      const login = await readLogin(deps.sql, request.email);
      const matches = await passwordMatches(login?.password_hash, request.password);
      if (!login || !matches)
        throw new CloudError('bad_credential', 'the e-mail or the password is wrong');
      return await newTokens(deps, deps.sql, { userId: login.id, familyId: newId() });
    }
    case 'refresh_token': {
      if (!isKey('refresh_token', request.refresh_token)) throw badRefreshToken();
      const hash = sha256(request.refresh_token);
      const tokens = await deps.sql.begin(async (sql) => {
        const claimed = await claimRefreshToken(sql, hash);
        return (
          claimed && newTokens(deps, sql, { userId: claimed.user_id, familyId: claimed.family_id })
        );
      });
      if (tokens) return tokens;
      await revokeFamilyOf(deps.sql, hash);
      throw badRefreshToken();
    }
  }
}

async function newTokens(
  deps: Deps,
  sql: Queryable,
  { userId, familyId }: { userId: string; familyId: string },
) {
  const refreshToken = newKey('refresh_token');
  const expiresAt = new Date(Date.now() + REFRESH_LIFETIME_MS);
  await insertRefreshToken(sql, { hash: sha256(refreshToken), familyId, userId, expiresAt });
  return {
    access_token: await deps.tokens.issue(userId),
    refresh_token: refreshToken,
    expires_in: TOKEN_LIFETIME_S,
    token_type: 'bearer' as const,
  };
}

function badRefreshToken(): CloudError {
  return new CloudError(
    'bad_credential',
    'the refresh token is wrong, used, revoked or expired: log in again',
  );
}
