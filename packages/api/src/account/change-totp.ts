import { randomBytes } from 'node:crypto';
import type { Queryable } from '@gantry/db/connect';
import { insertRecord, type WriteRecord } from '@gantry/db/queries/operations/records';
import { TOTP_PURPOSE } from '@gantry/db/queries/tenants/sealed';
import {
  confirmTotp,
  insertTotp,
  lockTotp,
  readTotp,
  removeTotp,
} from '@gantry/db/queries/tenants/totps';
import { transact } from '@gantry/db/transact';
import { badRequest, CloudError } from '@gantry/model/errors';
import type { Caller } from '../auth/caller.ts';
import { acceptTotp, newTotpSecret, toBase32, totpUrl } from '../auth/totp.ts';
import type { Deps } from '../deps.ts';
import { checkSecondFactor, recoveryHash } from '../tokens/second-factor.ts';
import { checkOwnPassword, requireUser } from './own-user.ts';

const RECOVERY_CODES = 10;
const RECOVERY_BYTES = 10;

type Recording = (reply: unknown) => WriteRecord;
type Client = { deps: Deps; caller: Caller; sourceIp: string; now: Date };

/** Makes a secret. It is not asked for before the user has confirmed that an app has it. */
export async function startTotp(
  { deps, caller, sourceIp, body }: Client & { body: { password: string } },
  record: Recording,
) {
  const user = requireUser(caller);
  const { password } = body;
  const refund = await checkOwnPassword({ deps, user, sourceIp, password, field: 'password' });
  await refund();
  const secret = newTotpSecret();
  const sealedSecret = deps.secrets.seal(TOTP_PURPOSE, secret);
  return await transact(deps.sql, async (sql) => {
    if (!(await insertTotp(sql, { userId: user.id, sealedSecret }))) {
      throw new CloudError('conflict', 'you have a second factor already: remove it first');
    }
    const reply = { secret, url: totpUrl({ secret, email: user.email }) };
    await insertRecord(sql, record(reply));
    return reply;
  });
}

type Confirmation = { deps: Deps; sql: Queryable; caller: Caller; code: string; now: Date };

/** Switches the second factor on, and returns codes for the case that the app is lost. */
export async function confirmOwnTotp({ deps, sql, caller, code, now }: Confirmation) {
  const { id: userId } = requireUser(caller);
  const totp = await lockTotp(sql, userId);
  if (!totp || totp.confirmed) {
    throw new CloudError('conflict', 'there is no second factor to confirm: start with a new one');
  }
  const secret = deps.secrets.unseal(TOTP_PURPOSE, totp.sealed_secret);
  const step = acceptTotp({ secret, code, nowMs: now.getTime(), lastStep: 0 });
  if (step === undefined) throw badRequest([{ field: 'totp', reason: 'is not the present code' }]);
  const codes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode);
  await confirmTotp(sql, { userId, step, recoveryHashes: codes.map(recoveryHash) });
  return { recovery_codes: codes };
}

function newRecoveryCode(): string {
  const groups = toBase32(randomBytes(RECOVERY_BYTES)).match(/.{4}/g) ?? [];
  return groups.join('-').toLowerCase();
}

/** Switches the second factor off. */
export async function removeOwnTotp(
  { deps, caller, sourceIp, now, body }: Client & { body: { password: string; totp: string } },
  record: Recording,
) {
  const user = requireUser(caller);
  const { password, totp: code } = body;
  const refund = await checkOwnPassword({ deps, user, sourceIp, password, field: 'password' });
  const reply = await transact(deps.sql, async (sql) => {
    await checkSecondFactor({ deps, sql, userId: user.id, code, now });
    if (!(await removeTotp(sql, user.id))) {
      throw new CloudError('conflict', 'you have no second factor');
    }
    await insertRecord(sql, record({}));
    return {};
  });
  await refund();
  return reply;
}

export async function readOwnTotp(sql: Queryable, caller: Caller) {
  const totp = await readTotp(sql, requireUser(caller).id);
  return {
    enabled: totp?.confirmed === true,
    recovery_codes_left: totp?.recovery_hashes.length ?? 0,
  };
}
