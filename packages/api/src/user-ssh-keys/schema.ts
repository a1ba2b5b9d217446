import { z } from '@hono/zod-openapi';
import { Id, Name, Page, Paging } from '../http/fields.ts';
import { ResourceQuery } from '../http/lists/resource-list.ts';
import { SshKey, SshPublicKey } from '../ssh-keys/schema.ts';

export const UserSshKey = SshKey.omit({ tags: true }).openapi('UserSshKey');

export const UserSshKeyPage = Page(UserSshKey);

export const CreateUserSshKey = z
  .strictObject({ name: Name, public_key: SshPublicKey })
  .openapi('CreateUserSshKey');

export const UserSshKeyParams = z.object({ user_ssh_key_id: Id });
export const UserSshKeyQuery = ResourceQuery.extend({ limit: Paging.limit });
