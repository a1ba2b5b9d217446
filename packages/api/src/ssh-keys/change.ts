import type { Queryable } from '@gantry/db/connect';
import {
  countSshKeys,
  insertSshKey,
  lockSshKeysOfProject,
  removeSshKey,
  type SshKeyRow,
  updateSshKeyTags,
} from '@gantry/db/queries/tenants/ssh-keys';
import { CloudError, notFound } from '@gantry/model/errors';
import { newId } from '@gantry/model/ids';
import type { z } from '@hono/zod-openapi';
import type { CreateSshKey } from './schema.ts';

type Creation = {
  sql: Queryable;
  projectId: string;
  body: z.output<typeof CreateSshKey>;
  now: Date;
};

/** Of a project or a user: more than a team needs, and few enough that it cannot fill the table. */
export const MOST_KEYS = 100;

export async function createSshKey({ sql, projectId, body, now }: Creation): Promise<SshKeyRow> {
  await lockSshKeysOfProject(sql, projectId);
  if ((await countSshKeys(sql, projectId)) >= MOST_KEYS) {
    throw new CloudError(
      'conflict',
      `the project has ${MOST_KEYS} SSH keys, which is the most: delete one first`,
    );
  }
  const key = { ...newSshKey(body, now), tags: body.tags ?? {} };
  await insertSshKey(sql, { ...key, projectId });
  return key;
}

type NamedKey = Pick<SshKeyRow, 'name' | 'public_key'>;

export function newSshKey({ name, public_key }: NamedKey, now: Date) {
  return { id: newId(now.getTime()), name, public_key: public_key.trim(), created_at: now };
}

export async function changeSshKey(
  sql: Queryable,
  change: { projectId: string; sshKeyId: string; tags: Record<string, string> },
): Promise<SshKeyRow> {
  const row = await updateSshKeyTags(sql, change);
  if (!row) throw notFound('SSH key');
  return row;
}

/** VMs that were created with the key keep it. */
export async function deleteSshKey(
  sql: Queryable,
  key: { projectId: string; sshKeyId: string },
): Promise<SshKeyRow> {
  const row = await removeSshKey(sql, key);
  if (!row) throw notFound('SSH key');
  return row;
}
