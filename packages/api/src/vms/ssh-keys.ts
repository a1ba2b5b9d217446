import type { Queryable } from '@gantry/db/connect';
import { readPublicKeys } from '@gantry/db/queries/tenants/ssh-keys';
import { readPublicKeysOfUser } from '@gantry/db/queries/tenants/user-ssh-keys';
import { badRequest } from '@gantry/model/errors';
import { isSshKeyName } from '../ssh-keys/schema.ts';

/** A host reports all that it knows of a VM in one message, so this has a limit of its own. */
const MAX_TOTAL_BYTES = 64 * 1024;

type Given = {
  sql: Queryable;
  projectId: string;
  /** The user who creates the VM; null for an access key. */
  userId: string | null;
  given: readonly string[];
};

/**
 * Returns public keys, in place of the names of stored keys too, or throws an error that names the field.
 * A VM has its keys from its creation on, so a stored key that is deleted meanwhile makes no difference.
 */
export async function toPublicKeys({ sql, projectId, userId, given }: Given): Promise<string[]> {
  const names = given.filter(isSshKeyName);
  const stored = names.length > 0 ? await readStored({ sql, projectId, userId, names }) : new Map();
  const unknown = given.flatMap((text, index) =>
    isSshKeyName(text) && !stored.has(text)
      ? [
          {
            field: `ssh_keys.${index}`,
            reason:
              'is neither a public key nor the name of an SSH key of this project or of your own',
          },
        ]
      : [],
  );
  if (unknown.length > 0) throw badRequest(unknown);
  const keys = given.map((text): string => stored.get(text) ?? text.trim());
  const total = keys.reduce((sum, key) => sum + Buffer.byteLength(key), 0);
  if (total > MAX_TOTAL_BYTES) {
    throw badRequest([{ field: 'ssh_keys', reason: 'must be at most 64 KiB together' }]);
  }
  return keys;
}

/**
 * A key of the user's own comes before one of the project with the same name: other members of the project must
 * not be able to replace it.
 */
async function readStored({
  sql,
  projectId,
  userId,
  names,
}: Omit<Given, 'given'> & { names: string[] }): Promise<Map<string, string>> {
  const ofProject = await readPublicKeys(sql, { projectId, names });
  if (userId === null) return ofProject;
  return new Map([...ofProject, ...(await readPublicKeysOfUser(sql, { userId, names }))]);
}
