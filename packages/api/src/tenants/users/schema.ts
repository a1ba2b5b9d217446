import { OPERATOR_ROLES } from '@gantry/model/states';
import { z } from '@hono/zod-openapi';
import { NewPassword } from '../../account/schema.ts';
import { Email, Id, Page, ReplyId, Timestamp } from '../../http/fields.ts';

export const User = z
  .object({
    id: ReplyId,
    email: z.string(),
    operator: z.boolean(),
    operator_role: z.string().openapi({ description: 'Empty if the user is not an operator.' }),
    pending: z.boolean().openapi({
      description: 'An owner added the e-mail address as a member; no operator created the user.',
    }),
    created_at: Timestamp,
  })
  .openapi('User');

export const UserPage = Page(User);

const Role = z.enum(OPERATOR_ROLES);

export const CreateUser = z
  .strictObject({
    email: Email,
    password: NewPassword.optional(),
    operator: z.boolean().default(false),
    operator_role: Role.optional(),
  })
  .openapi('CreateUser');

export const ChangeUser = z
  .strictObject({
    password: NewPassword.optional(),
    operator: z.boolean().optional(),
    operator_role: Role.optional(),
  })
  .openapi('ChangeUser');

export const UserParams = z.object({ user_id: Id });

/** Long enough for a holiday, short enough that a forgotten link ends. */
const DEFAULT_HOURS = 72;
const MOST_HOURS = 336;

export const InviteUser = z
  .strictObject({ expires_in_hours: z.int().min(1).max(MOST_HOURS).default(DEFAULT_HOURS) })
  .openapi('InviteUser');

export const Invitation = z
  .object({
    user_id: ReplyId,
    url: z.string().openapi({ description: 'The link. No other reply shows it.' }),
    token: z.string().openapi({ description: 'The secret part of the link.' }),
    expires_at: Timestamp,
  })
  .openapi('Invitation');
