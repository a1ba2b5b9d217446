import { z } from '@hono/zod-openapi';
import { Email, Id, Page, ReplyId, Text, Timestamp } from '../../http/fields.ts';

export const User = z
  .object({ id: ReplyId, email: z.string(), operator: z.boolean(), created_at: Timestamp })
  .openapi('User');

export const UserPage = Page(User);

const MIN_PASSWORD = 12;
const Password = Text(1024).min(MIN_PASSWORD, `must have at least ${MIN_PASSWORD} characters`);

export const CreateUser = z
  .strictObject({ email: Email, password: Password, operator: z.boolean().default(false) })
  .openapi('CreateUser');

export const ChangeUser = z
  .strictObject({ password: Password.optional(), operator: z.boolean().optional() })
  .openapi('ChangeUser');

export const UserParams = z.object({ user_id: Id });
