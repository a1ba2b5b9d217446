import type { Queryable } from '@gantry/db/connect';
import {
  insertUser,
  removeUser,
  revokeLogins,
  type UserRow,
  updateUser,
} from '@gantry/db/queries/users';
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

/** A new password ends every login made with the old one. */
export async function changeUser({
  sql,
  caller,
  userId,
  body,
}: Target & { body: z.output<typeof ChangeUser> }): Promise<UserRow> {
  if (body.operator === false) refuseOneself(caller, userId);
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
  refuseOneself(caller, userId);
  const user = await removeUser(sql, userId);
  if (!user) throw notFound('user');
  return user;
}

/** An operator who locks themselves out may be the last one. */
function refuseOneself(caller: Caller, userId: string): void {
  if (callerId(caller) === userId) {
    throw new CloudError('conflict', 'this is yourself: ask another operator to do it');
  }
}
