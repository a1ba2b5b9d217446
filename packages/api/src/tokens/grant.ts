import { sha256 } from '@gantry/daemon/secrets';
import { insertAuditLines } from '@gantry/db/queries/operations/records';
import { readLogin } from '@gantry/db/queries/tenants/logins';
import {
  claimRefreshToken,
  lockTokenGeneration,
  readRefreshTokenUser,
  revokeFamilyOf,
} from '@gantry/db/queries/tenants/tokens';
import { CloudError } from '@gantry/model/errors';
import { newId } from '@gantry/model/ids';
import type { z } from '@hono/zod-openapi';
import { isKey } from '../auth/keys.ts';
import { type TokenAttempt, tokenAuditLine } from '../auth/login-log.ts';
import { sourceOf } from '../auth/source.ts';
import { TooManyRequests } from '../base/rate-limit.ts';
import type { Deps } from '../deps.ts';
import { checkPassword, wrongPassword } from './check-password.ts';
import { newTokens } from './new-tokens.ts';
import type { TokenRequest } from './schema.ts';
import { checkSecondFactor } from './second-factor.ts';

type Grant = {
  deps: Deps;
  request: z.output<typeof TokenRequest>;
  sourceIp: string;
  userAgent: string;
  requestId: string;
  now: Date;
  /** Returns the status of the reply to an error. Undefined: the error is a fault of this process. */
  statusOf: (error: unknown) => number | undefined;
};

/**
 * Issues tokens. The limits apply before a password is hashed, and every attempt is in the audit log:
 * a successful one in the transaction that stores its refresh token, the others a moment later.
 */
export async function grantTokens({ deps, request, sourceIp, now, statusOf, ...client }: Grant) {
  const { grant_type: grantType } = request;
  const email = request.grant_type === 'password' ? request.email : '';
  const attempt = { at: now, ...client, grantType, userId: null, email, sourceIp };
  const source = sourceOf(sourceIp);
  const limitKey = `${grantType} ${source}`;
  const exchange: Exchange = { deps, attempt, source };
  try {
    deps.loginLimiter.take(limitKey);
    const tokens =
      request.grant_type === 'password'
        ? await logIn(exchange, request)
        : await refresh(exchange, request.refresh_token);
    deps.loginLimiter.refund(limitKey);
    return tokens;
  } catch (error) {
    const status = statusOf(error);
    const limited = error instanceof TooManyRequests;
    if (status !== undefined) deps.loginLog.add(exchange.attempt, { status, limited });
    throw error;
  }
}

type Exchange = { deps: Deps; attempt: TokenAttempt; source: string };
type Password = { email: string; password: string; totp?: string | undefined };

async function logIn(exchange: Exchange, { email, password, totp: code }: Password) {
  const { deps, attempt, source } = exchange;
  const found = await readLogin(deps.sql, { email, source });
  attempt.userId = found?.id ?? null;
  const { login, refund } = await checkPassword({
    ...{ deps, login: found, email, source, password },
  });
  const userId = login.id;
  try {
    const tokens = await deps.sql.begin(async (sql) => {
      const generation = await lockTokenGeneration(sql, userId);
      // The password was changed, or the user deleted, while it was checked.
      if (generation !== login.token_generation) throw wrongPassword();
      await checkSecondFactor({ deps, sql, userId, code, now: attempt.at });
      await insertAuditLines(sql, [tokenAuditLine(attempt, 200)]);
      return await newTokens({ ...attempt, deps, sql, userId, generation, familyId: newId() });
    });
    await refund();
    return tokens;
  } catch (error) {
    // Clients find out in this way that they need a code. A wrong code is a guess and counts.
    if (error instanceof CloudError && error.code === 'totp_required') await refund();
    throw error;
  }
}

/** A refresh token works once; using it again revokes every token of its login. */
async function refresh({ deps, attempt }: Exchange, refreshToken: string) {
  if (!isKey('refresh_token', refreshToken)) throw badRefreshToken();
  const hash = sha256(refreshToken);
  const user = await readRefreshTokenUser(deps.sql, hash);
  if (!user) throw badRefreshToken();
  const userId = user.id;
  attempt.userId = userId;
  attempt.email = user.email;
  const tokens = await deps.sql.begin(async (sql) => {
    const generation = await lockTokenGeneration(sql, userId);
    const claimed = await claimRefreshToken(sql, hash);
    if (!claimed || generation === undefined) return undefined;
    await insertAuditLines(sql, [tokenAuditLine(attempt, 200)]);
    const familyId = claimed.family_id;
    return await newTokens({ ...attempt, deps, sql, userId, generation, familyId });
  });
  if (tokens) return tokens;
  await revokeFamilyOf(deps.sql, hash);
  throw badRefreshToken();
}

function badRefreshToken(): CloudError {
  return new CloudError(
    'bad_credential',
    'the refresh token is wrong, used, revoked or expired: log in again',
  );
}
