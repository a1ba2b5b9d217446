import type { Queryable } from '@gantry/db/connect';
import {
  insertUser,
  removeUser,
  revokeLogins,
  type UserRow,
  updateUser,
} from '@gantry/db/queries/tenants/users';
import { CloudError, notFound } from '@gantry/model/errors';
import { newId } from '@gantry/model/ids';
import type { z } from '@hono/zod-openapi';
import { type Caller, callerId } from '../../auth/caller.ts';
import { hashPassword } from '../../auth/passwords.ts';
import type { ChangeUser, CreateUser } from './schema.ts';

type Creation = { sql: Queryable; body: z.output<typeof CreateUser>; now: Date };

export async function createUser({ sql, body, now }: Creation): Promise<UserRow> {
  const { email, operator } = body;
  const user = { id: newId(now.getTime()), email, operator, created_at: now };
  await insertUser(sql, { ...user, passwordHash: await hashPassword(body.password) });
  return user;
}

type Target = { sql: Queryable; caller: Caller; userId: string };

/** Changes a user. A new password revokes every refresh token of the user. */
export async function changeUser({
  sql,
  caller,
  userId,
  body,
}: Target & { body: z.output<typeof ChangeUser> }): Promise<UserRow> {
  if (body.operator === false) refuseOwnUser(caller, userId);
  const user = await updateUser(sql, {
    userId,
    passwordHash: body.password === undefined ? null : await hashPassword(body.password),
    operator: body.operator ?? null,
  });
  if (!user) throw notFound('user');
  if (body.password !== undefined) await revokeLogins(sql, userId);
  return user;
}

export async function deleteUser({ sql, caller, userId }: Target): Promise<UserRow> {
  refuseOwnUser(caller, userId);
  const user = await removeUser(sql, userId);
  if (!user) throw notFound('user');
  return user;
}

/** Refuses changes that would lock the caller out, because the caller may be the last operator. */
function refuseOwnUser(caller: Caller, userId: string): void {
  if (callerId(caller) === userId) {
    throw new CloudError('conflict', 'you cannot do this to your own user: ask another operator');
  }
}
