import { z } from '@hono/zod-openapi';
import { Id, Items, ReplyId, ReplyIdOrEmpty, Timestamp } from '../../http/fields.ts';
import { Email } from '../../tokens/schema.ts';

const MemberRole = z.enum(['owner', 'member', 'read-only']);

export const Member = z
  .object({
    id: ReplyId,
    user_id: ReplyId,
    email: z.string(),
    role: MemberRole,
    project_id: ReplyIdOrEmpty.openapi({ description: 'Empty for an owner.' }),
    created_at: Timestamp,
  })
  .openapi('Member');

export const Members = Items(Member);

export const CreateMember = z
  .strictObject({ email: Email, role: MemberRole, project_id: Id.optional() })
  .superRefine(({ role, project_id }, context) => {
    if (role === 'owner' && project_id !== undefined) {
      const message = 'an owner has the whole organization: leave it out';
      context.addIssue({ code: 'custom', path: ['project_id'], message });
    }
    if (role !== 'owner' && project_id === undefined) {
      const message = `is needed: the role ${role} belongs to one project`;
      context.addIssue({ code: 'custom', path: ['project_id'], message });
    }
  })
  .openapi('CreateMember');

export const MemberParams = z.object({ organization_id: Id, member_id: Id });
