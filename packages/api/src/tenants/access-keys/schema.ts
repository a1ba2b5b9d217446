import { z } from '@hono/zod-openapi';
import {
  Id,
  Name,
  Page,
  ReplyId,
  ReplyIdOrEmpty,
  Timestamp,
  TimestampOrEmpty,
} from '../../http/fields.ts';
import { ReplyTags, Tags } from '../../http/tags.ts';

const AccessKeyRole = z.enum(['member', 'read-only']);

export const AccessKey = z
  .object({
    id: ReplyId,
    name: z.string(),
    role: AccessKeyRole,
    created_at: Timestamp,
    expires_at: TimestampOrEmpty,
    created_by: ReplyIdOrEmpty.openapi({
      description: 'The user who created the key, also if it was created with another key.',
    }),
    creator: z.string().openapi({ description: 'The e-mail address of that user.' }),
    created_with_key: ReplyIdOrEmpty.openapi({
      description: 'The key with which it was created; empty if a user created it.',
    }),
    last_used_at: TimestampOrEmpty,
    last_used_ip: z.string(),
    tags: ReplyTags,
  })
  .openapi('AccessKey');

export const AccessKeyPage = Page(AccessKey);

export const NewAccessKey = AccessKey.extend({
  access_key: z.string().openapi({ description: 'The key itself. No other reply shows it.' }),
}).openapi('NewAccessKey');

export const CreateAccessKey = z
  .strictObject({
    name: Name,
    role: AccessKeyRole.default('member'),
    expires_at: z.iso.datetime('must be a timestamp such as 2030-01-31T12:00:00Z').optional(),
    tags: Tags.optional(),
  })
  .openapi('CreateAccessKey');

export const ChangeAccessKey = z.strictObject({ tags: Tags }).openapi('ChangeAccessKey');

export const AccessKeyParams = z.object({ project_id: Id, access_key_id: Id });
