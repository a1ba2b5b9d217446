import { z } from '@hono/zod-openapi';
import { Email, Id, Items, ReplyId, ReplyIdOrEmpty, Timestamp } from '../../http/fields.ts';

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
      const message = 'must be absent, because an owner has every project of the organization';
      context.addIssue({ code: 'custom', path: ['project_id'], message });
    }
    if (role !== 'owner' && project_id === undefined) {
      const message = `is required, because the role ${role} is for one project`;
      context.addIssue({ code: 'custom', path: ['project_id'], message });
    }
  })
  .openapi('CreateMember');

export const MemberParams = z.object({ organization_id: Id, member_id: Id });
