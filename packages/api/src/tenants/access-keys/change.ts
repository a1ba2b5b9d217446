import { sha256 } from '@gantry/daemon/secrets';
import type { Queryable } from '@gantry/db/connect';
import {
  type AccessKeyRow,
  insertAccessKey,
  removeAccessKey,
} from '@gantry/db/queries/tenants/access-keys';
import { badRequest, CloudError, notFound } from '@gantry/model/errors';
import { newId } from '@gantry/model/ids';
import { roleReaches } from '@gantry/model/states';
import type { z } from '@hono/zod-openapi';
import type { Scope } from '../../auth/authorize.ts';
import { newKey } from '../../auth/keys.ts';
import type { CreateAccessKey } from './schema.ts';

type Creation = {
  sql: Queryable;
  scope: Scope;
  body: z.output<typeof CreateAccessKey>;
  now: Date;
};

/** Creates an access key. Only the reply has the secret; the database stores its hash. */
export async function createAccessKey({
  sql,
  scope,
  body,
  now,
}: Creation): Promise<{ row: AccessKeyRow; secret: string }> {
  const { name, role } = body;
  if (!roleReaches(scope.role, role)) {
    throw new CloudError(
      'forbidden',
      `you cannot create a key with the role ${role}: your own role is lower`,
    );
  }
  const expiresAt = body.expires_at === undefined ? null : new Date(body.expires_at);
  if (expiresAt && expiresAt <= now) {
    throw badRequest([{ field: 'expires_at', reason: 'must be in the future' }]);
  }
  const secret = newKey('access_key');
  const id = newId(now.getTime());
  await insertAccessKey(sql, {
    id,
    projectId: scope.projectId,
    name,
    role,
    hash: sha256(secret),
    createdAt: now,
    expiresAt,
  });
  return { row: { id, name, role, created_at: now, expires_at: expiresAt }, secret };
}

export async function deleteAccessKey(
  sql: Queryable,
  key: { projectId: string; accessKeyId: string },
): Promise<AccessKeyRow> {
  const row = await removeAccessKey(sql, key);
  if (!row) throw notFound('access key');
  return row;
}
