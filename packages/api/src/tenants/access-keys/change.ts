import { sha256 } from '@gantry/daemon/secrets';
import type { Queryable } from '@gantry/db/connect';
import {
  type AccessKeyRow,
  insertAccessKey,
  readAccessKey,
  removeAccessKey,
  updateAccessKeyTags,
} from '@gantry/db/queries/tenants/access-keys';
import { badRequest, CloudError, notFound } from '@gantry/model/errors';
import { newId } from '@gantry/model/ids';
import { roleReaches } from '@gantry/model/states';
import type { z } from '@hono/zod-openapi';
import type { Scope } from '../../auth/authorize.ts';
import type { Caller } from '../../auth/caller.ts';
import { newKey } from '../../auth/keys.ts';
import type { CreateAccessKey } from './schema.ts';

type Creation = {
  sql: Queryable;
  caller: Caller;
  scope: Scope;
  body: z.output<typeof CreateAccessKey>;
  now: Date;
};

/** Creates an access key. Only the reply has the secret; the database stores its hash. */
export async function createAccessKey({
  sql,
  caller,
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
  const expiresAt = expiryOf(body.expires_at, { caller, now });
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
    tags: body.tags ?? {},
    ...creatorOf(caller),
  });
  const row = await readAccessKey(sql, id);
  if (!row) throw new Error('BUG: the new access key cannot be read');
  return { row, secret };
}

/** A key does not outlive the key that creates it. Without a time, it expires at the same time. */
function expiryOf(given: string | undefined, { caller, now }: { caller: Caller; now: Date }) {
  const latest = caller.type === 'access_key' ? caller.grant.expires_at : null;
  if (given === undefined) return latest;
  const expiresAt = new Date(given);
  if (expiresAt <= now) {
    throw badRequest([{ field: 'expires_at', reason: 'must be in the future' }]);
  }
  if (latest && expiresAt > latest) {
    const reason = `must not be after ${latest.toISOString()}, when the key that you use expires`;
    throw badRequest([{ field: 'expires_at', reason }]);
  }
  return expiresAt;
}

function creatorOf({ type, grant }: Caller) {
  return type === 'user'
    ? { createdBy: grant.id, parentId: null }
    : { createdBy: grant.created_by, parentId: grant.id };
}

export async function changeAccessKey(
  sql: Queryable,
  change: { projectId: string; accessKeyId: string; tags: Record<string, string> },
): Promise<AccessKeyRow> {
  const row = await updateAccessKeyTags(sql, change);
  if (!row) throw notFound('access key');
  return row;
}

export async function deleteAccessKey(
  sql: Queryable,
  key: { projectId: string; accessKeyId: string },
): Promise<AccessKeyRow> {
  const row = await removeAccessKey(sql, key);
  if (!row) throw notFound('access key');
  return row;
}
