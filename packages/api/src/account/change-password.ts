import { insertRecord, type WriteRecord } from '@gantry/db/queries/operations/records';
import { lockTokenGeneration } from '@gantry/db/queries/tenants/tokens';
import { endLogins, updateUser } from '@gantry/db/queries/tenants/users';
import { transact } from '@gantry/db/transact';
import { newId } from '@gantry/model/ids';
import type { z } from '@hono/zod-openapi';
import { badCredential, type Caller } from '../auth/caller.ts';
import { hashPassword } from '../auth/passwords.ts';
import { sourceOf } from '../auth/source.ts';
import { refuseWeakPassword } from '../auth/weak-passwords.ts';
import type { Deps } from '../deps.ts';
import { newTokens } from '../tokens/new-tokens.ts';
import { checkSecondFactor } from '../tokens/second-factor.ts';
import { checkOwnPassword, requireUser } from './own-user.ts';
import type { ChangePassword } from './schema.ts';

type Change = {
  deps: Deps;
  caller: Caller;
  body: z.output<typeof ChangePassword>;
  sourceIp: string;
  userAgent: string;
  now: Date;
};

/**
 * Changes the caller's password. Every login and every token of the user ends, and the caller gets
 * new ones. The hashes are computed before the transaction, which is short.
 */
export async function changePassword(
  { deps, caller, body, sourceIp, userAgent, now }: Change,
  record: (reply: unknown) => WriteRecord,
) {
  const user = requireUser(caller);
  const { current_password: password, new_password, totp: code } = body;
  refuseWeakPassword(new_password, user.email, 'new_password');
  const refund = await checkOwnPassword({
    ...{ deps, user, sourceIp, password, field: 'current_password' },
  });
  const passwordHash = await deps.hashQueue.run({
    source: sourceOf(sourceIp),
    first: true,
    work: () => hashPassword(new_password),
  });
  const reply = await transact(deps.sql, async (sql) => {
    const changed = await updateUser(sql, { userId: user.id, passwordHash });
    if (!changed) throw badCredential();
    await checkSecondFactor({ deps, sql, userId: user.id, code, now });
    await endLogins(sql, user.id);
    const generation = (await lockTokenGeneration(sql, user.id)) ?? 0;
    const tokens = await newTokens({
      ...{ deps, sql, userId: user.id, generation, familyId: newId(), sourceIp, userAgent },
    });
    await insertRecord(sql, record(tokens));
    return tokens;
  });
  await refund();
  return reply;
}
