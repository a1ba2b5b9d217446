import { sha256 } from '@gantry/daemon/secrets';
import type { Queryable } from '@gantry/db/connect';
import { TOTP_PURPOSE } from '@gantry/db/queries/tenants/sealed';
import { claimRecoveryCode, lockTotp, recordTotpStep } from '@gantry/db/queries/tenants/totps';
import { CloudError } from '@gantry/model/errors';
import { acceptTotp } from '../auth/totp.ts';
import type { Deps } from '../deps.ts';

type SecondFactor = {
  deps: Deps;
  /** The transaction that uses the code up. */
  sql: Queryable;
  userId: string;
  /** A code of the user's app, or a recovery code. */
  code: string | undefined;
  now: Date;
};

/** Throws if the user has a second factor and the code is missing, wrong or used. */
export async function checkSecondFactor(factor: SecondFactor): Promise<void> {
  const { deps, sql, userId, code, now } = factor;
  const totp = await lockTotp(sql, userId);
  if (!totp?.confirmed) return;
  if (code === undefined) {
    throw new CloudError('totp_required', 'this user has a second factor: send its code as "totp"');
  }
  const secret = deps.secrets.unseal(TOTP_PURPOSE, totp.sealed_secret);
  const step = acceptTotp({ secret, code, nowMs: now.getTime(), lastStep: totp.last_step });
  if (step !== undefined) {
    await recordTotpStep(sql, { userId, step });
  } else if (!(await claimRecoveryCode(sql, { userId, hash: recoveryHash(code) }))) {
    throw new CloudError('bad_credential', 'the code is wrong or was used before');
  }
}

/** Recovery codes have 80 random bits, so a fast hash is enough. Case and dashes do not matter. */
export function recoveryHash(code: string): string {
  return sha256(code.toUpperCase().replaceAll(/[^A-Z0-9]/g, ''));
}
