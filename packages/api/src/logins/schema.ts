import { z } from '@hono/zod-openapi';
import { Id, ListQuery, Page, ReplyId, Timestamp } from '../http/fields.ts';

export const Login = z
  .object({
    id: ReplyId,
    created_at: Timestamp,
    last_used_at: Timestamp.openapi({
      description: 'When the login last got an access token. It can use one for an hour.',
    }),
    expires_at: Timestamp.openapi({ description: 'When it ends if it is not used again.' }),
    source_ip: z.string().openapi({ description: 'Where it was last used; empty if unknown.' }),
    user_agent: z.string().openapi({ description: 'What the client calls itself.' }),
    current: z.boolean().openapi({ description: 'Whether this request belongs to the login.' }),
  })
  .openapi('Login');

export const LoginPage = Page(Login);
export const LoginParams = z.object({ login_id: Id });
export const LoginQuery = z.strictObject(ListQuery);
