import { sshKeyProblem } from '@gantry/model/ssh-key';
import { z } from '@hono/zod-openapi';
import { Id, Name, Page, Paging, ReplyId, Text, Timestamp } from '../http/fields.ts';
import { TaggedResourceQuery } from '../http/lists/resource-list.ts';
import { ReplyTags, Tags } from '../http/tags.ts';

const MAX_KEY_LENGTH = 16_384;

export const SshPublicKey = Text(MAX_KEY_LENGTH).superRefine((key, context) => {
  const problem = sshKeyProblem(key);
  if (problem) context.addIssue({ code: 'custom', message: problem });
});

/** Whether the text names a stored key. A public key has a space, which no name has. */
export const isSshKeyName = (text: string): boolean => Name.safeParse(text).success;

export const SshKeyOrName = Text(MAX_KEY_LENGTH).superRefine((text, context) => {
  const problem = isSshKeyName(text) ? undefined : sshKeyProblem(text);
  if (problem) context.addIssue({ code: 'custom', message: problem });
});

export const SshKey = z
  .object({
    id: ReplyId,
    name: z.string(),
    public_key: z.string(),
    fingerprint: z.string().openapi({ description: 'As ssh-keygen -l prints it.' }),
    tags: ReplyTags,
    created_at: Timestamp,
  })
  .openapi('SshKey');

export const SshKeyPage = Page(SshKey);

export const CreateSshKey = z
  .strictObject({ name: Name, public_key: SshPublicKey, tags: Tags.optional() })
  .openapi('CreateSshKey');

export const ChangeSshKey = z.strictObject({ tags: Tags }).openapi('ChangeSshKey');

export const SshKeyParams = z.object({ project_id: Id, ssh_key_id: Id });
export const SshKeyQuery = TaggedResourceQuery.extend({ limit: Paging.limit });
