import type { Queryable } from '@gantry/db/connect';
import {
  countUserSshKeys,
  insertUserSshKey,
  lockSshKeysOfUser,
  removeUserSshKey,
  type UserSshKeyRow,
} from '@gantry/db/queries/tenants/user-ssh-keys';
import { CloudError, notFound } from '@gantry/model/errors';
import type { z } from '@hono/zod-openapi';
import { MOST_KEYS, newSshKey } from '../ssh-keys/change.ts';
import type { CreateUserSshKey } from './schema.ts';

type Creation = {
  sql: Queryable;
  userId: string;
  body: z.output<typeof CreateUserSshKey>;
  now: Date;
};

export async function createUserSshKey({
  sql,
  userId,
  body,
  now,
}: Creation): Promise<UserSshKeyRow> {
  await lockSshKeysOfUser(sql, userId);
  if ((await countUserSshKeys(sql, userId)) >= MOST_KEYS) {
    throw new CloudError(
      'conflict',
      `you have ${MOST_KEYS} SSH keys, which is the most: delete one first`,
    );
  }
  const key = newSshKey(body, now);
  await insertUserSshKey(sql, { ...key, userId });
  return key;
}

/** VMs that were created with the key keep it. */
export async function deleteUserSshKey(
  sql: Queryable,
  key: { userId: string; sshKeyId: string },
): Promise<UserSshKeyRow> {
  const row = await removeUserSshKey(sql, key);
  if (!row) throw notFound('SSH key');
  return row;
}
