import { sha256 } from '@gantry/daemon/secrets';
import { insertAuditLines } from '@gantry/db/queries/operations/records';
import { claimInvitation, readInvitedUser } from '@gantry/db/queries/tenants/invitations';
import { endLogins, updateUser } from '@gantry/db/queries/tenants/users';
import { transact } from '@gantry/db/transact';
import { CloudError } from '@gantry/model/errors';
import { newId } from '@gantry/model/ids';
import { isKey } from '../auth/keys.ts';
import { hashPassword } from '../auth/passwords.ts';
import { sourceOf } from '../auth/source.ts';
import { refuseWeakPassword } from '../auth/weak-passwords.ts';
import type { Deps } from '../deps.ts';

export async function requireInvitedUser({ sql }: Deps, token: string) {
  const user = isKey('invitation', token) ? await readInvitedUser(sql, sha256(token)) : undefined;
  if (!user) throw badInvitation();
  return user;
}

type Acceptance = {
  deps: Deps;
  token: string;
  password: string;
  sourceIp: string;
  requestId: string;
  now: Date;
};

/**
 * Sets the password of the invited user. The link works once, and only with it can the password be
 * set, so the operator who made it does not know the password. All earlier logins of the user end,
 * because a link also replaces a forgotten or stolen password. A second factor stays.
 */
export async function acceptInvitation(acceptance: Acceptance): Promise<{ email: string }> {
  const { deps, token, password, sourceIp, requestId, now } = acceptance;
  const user = await requireInvitedUser(deps, token);
  refuseWeakPassword(password, user.email);
  const work = () => hashPassword(password);
  const passwordHash = await deps.hashQueue.run({ source: sourceOf(sourceIp), first: true, work });
  await transact(deps.sql, async (sql) => {
    if (!(await claimInvitation(sql, sha256(token)))) throw badInvitation();
    await updateUser(sql, { userId: user.id, passwordHash });
    await endLogins(sql, user.id);
    await insertAuditLines(sql, [
      {
        ...{ auditId: newId(now.getTime()), at: now, organizationId: null, projectId: null },
        ...{ actorType: 'user', actorId: user.id, actor: user.email },
        ...{ action: 'invitations.accept', resourceType: 'invitations', resourceId: user.id },
        ...{ sourceIp, requestId, status: 200 },
      },
    ]);
  });
  deps.callers.forget();
  return { email: user.email };
}

/** The same error for an unknown, used or expired link. */
function badInvitation(): CloudError {
  return new CloudError(
    'bad_credential',
    'the invitation is wrong, used or expired: ask an operator for a new one',
  );
}
