import { sha256 } from '@gantry/daemon/secrets';
import type { Queryable } from '@gantry/db/connect';
import { insertInvitation } from '@gantry/db/queries/tenants/invitations';
import { removeTotp } from '@gantry/db/queries/tenants/totps';
import {
  endLogins,
  insertUser,
  readUser,
  removeUser,
  type UserRow,
  updateUser,
} from '@gantry/db/queries/tenants/users';
import { CloudError, notFound } from '@gantry/model/errors';
import { newId } from '@gantry/model/ids';
import type { z } from '@hono/zod-openapi';
import { type Caller, callerId } from '../../auth/caller.ts';
import { newKey } from '../../auth/keys.ts';
import { hashPassword } from '../../auth/passwords.ts';
import { refuseWeakPassword } from '../../auth/weak-passwords.ts';
import type { ChangeUser, CreateUser } from './schema.ts';

type Creation = {
  sql: Queryable;
  caller: Caller;
  body: z.output<typeof CreateUser>;
  now: Date;
};

/**
 * Creates a user. A pending user with the same e-mail address keeps its id and its roles. Without a
 * password, the user cannot log in before accepting an invitation.
 */
export async function createUser({ sql, caller, body, now }: Creation): Promise<UserRow> {
  const { email, operator, operator_role = 'admin', password } = body;
  if (operator) requireAdmin(caller);
  if (password !== undefined) refuseWeakPassword(password, email);
  const passwordHash = password === undefined ? '' : await hashPassword(password);
  const user = { id: newId(now.getTime()), email, operator, operator_role, created_at: now };
  const row = await insertUser(sql, { ...user, passwordHash });
  if (!row) throw new CloudError('name_taken', 'another user has this e-mail address');
  return row;
}

type Target = { sql: Queryable; caller: Caller; userId: string };

/** Changes a user. A new password ends every login and every token of the user. */
export async function changeUser({
  sql,
  caller,
  userId,
  body,
}: Target & { body: z.output<typeof ChangeUser> }): Promise<UserRow> {
  const { password, operator, operator_role: operatorRole } = body;
  if (operator === false || operatorRole !== undefined) refuseOwnUser(caller, userId);
  const passwordHash = password === undefined ? undefined : await hashPassword(password);
  const user = await updateUser(sql, { userId, passwordHash, operator, operatorRole });
  if (!user) throw notFound('user');
  if (password !== undefined) {
    refuseWeakPassword(password, user.email);
    await endLogins(sql, userId);
  }
  return user;
}

/** Ends every login and every token of the user. */
export async function logOutUser(target: Target): Promise<UserRow> {
  const user = await requireTarget(target);
  await endLogins(target.sql, user.id);
  return user;
}

/** For a user who has lost the second factor. */
export async function removeUserTotp(target: Target): Promise<UserRow> {
  const user = await requireTarget(target);
  await removeTotp(target.sql, user.id);
  return user;
}

type NewInvitation = Target & { baseUrl: string; hours: number; now: Date };
const HOUR_MS = 3_600_000;

/** Makes a link with which the user chooses a password. An earlier link stops working. */
export async function inviteUser({ baseUrl, hours, now, ...target }: NewInvitation) {
  const user = await requireTarget(target);
  const token = newKey('invitation');
  const expiresAt = new Date(now.getTime() + hours * HOUR_MS);
  await insertInvitation(target.sql, {
    ...{ userId: user.id, hash: sha256(token), createdBy: callerId(target.caller) },
    ...{ createdAt: now, expiresAt },
  });
  const url = `${baseUrl}/invitations/${token}`;
  return { user_id: user.id, url, token, expires_at: expiresAt.toISOString() };
}

export async function deleteUser({ sql, caller, userId }: Target): Promise<UserRow> {
  refuseOwnUser(caller, userId);
  const user = await removeUser(sql, userId);
  if (!user) throw notFound('user');
  return user;
}

/** Only an admin may do to an operator what would give the caller the operator's rights. */
async function requireTarget({ sql, caller, userId }: Target): Promise<UserRow> {
  const user = await readUser(sql, userId);
  if (!user) throw notFound('user');
  if (user.operator) requireAdmin(caller);
  return user;
}

function requireAdmin(caller: Caller): void {
  if (caller.type === 'user' && caller.grant.operator_role === 'admin') return;
  throw new CloudError('forbidden', 'only operators with the role admin may do this to operators');
}

/** Refuses changes that would lock the caller out, because the caller may be the last operator. */
function refuseOwnUser(caller: Caller, userId: string): void {
  if (callerId(caller) === userId) {
    throw new CloudError('conflict', 'you cannot do this to your own user: ask another operator');
  }
}
