import { z } from '@hono/zod-openapi';
import { Email, Id, Items, ReplyId, Text, Timestamp } from '../http/fields.ts';

export const TokenRequest = z
  .discriminatedUnion(
    'grant_type',
    [
      z.strictObject({
        grant_type: z.literal('password'),
        email: Email,
        password: Text(1024),
        totp: Text(64)
          .optional()
          .openapi({ description: 'The code of the second factor, or a recovery code.' }),
      }),
      z.strictObject({ grant_type: z.literal('refresh_token'), refresh_token: Text(1024) }),
    ],
    { error: 'must be "password" or "refresh_token"' },
  )
  .openapi('TokenRequest');

export const TokenReply = z
  .object({
    access_token: z.string(),
    refresh_token: z.string(),
    expires_in: z.int(),
    token_type: z.literal('bearer'),
  })
  .openapi('TokenReply');

export const SigningKey = z.object({ id: ReplyId, created_at: Timestamp }).openapi('SigningKey');
export const SigningKeys = Items(SigningKey);
export const SigningKeyParams = z.object({ signing_key_id: Id });
