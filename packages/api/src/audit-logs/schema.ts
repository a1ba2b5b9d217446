import { z } from '@hono/zod-openapi';
import { Id, Page, Paging, ReplyId, ReplyIdOrEmpty, Text, Timestamp } from '../http/fields.ts';

const AuditLog = z
  .object({
    id: ReplyId,
    at: Timestamp,
    organization_id: ReplyIdOrEmpty,
    project_id: ReplyIdOrEmpty,
    actor_type: z.string(),
    actor_id: ReplyIdOrEmpty,
    actor: z.string(),
    action: z.string(),
    resource_type: z.string(),
    resource_id: z.string(),
    source_ip: z.string(),
    user_agent: z.string(),
    attempts: z.int(),
    request_id: ReplyId,
    status: z.int(),
  })
  .openapi('AuditLog');

export const AuditLogPage = Page(AuditLog);

export const AuditLogQuery = z.strictObject({
  ...Paging,
  project_id: Id.optional(),
  action: Text(128).optional(),
});
