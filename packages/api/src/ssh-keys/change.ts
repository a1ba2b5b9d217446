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

/** More than a team needs, and few enough that a project cannot fill the table. */
const MOST_KEYS = 100;

export async function createSshKey({ sql, projectId, body, now }: Creation): Promise<SshKeyRow> {
  await lockSshKeysOfProject(sql, projectId);
  if ((await countSshKeys(sql, projectId)) >= MOST_KEYS) {
    throw new CloudError(
      'conflict',
      `the project has ${MOST_KEYS} SSH keys, which is the most: delete one first`,
    );
  }
  const key = {
    id: newId(now.getTime()),
    name: body.name,
    public_key: body.public_key.trim(),
    tags: body.tags ?? {},
    created_at: now,
  };
  await insertSshKey(sql, { ...key, projectId });
  return key;
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
