import { z } from '@hono/zod-openapi';
import { CatalogueKey } from '../../catalogue/admin-schema.ts';
import { Id, Page, ReplyId, Timestamp, TimestampOrEmpty } from '../../http/fields.ts';

const JOIN_TOKEN_FIELDS = {
  id: ReplyId,
  location: z.string(),
  created_at: Timestamp,
  expires_at: Timestamp,
};

export const JoinToken = z
  .object({ ...JOIN_TOKEN_FIELDS, used_at: TimestampOrEmpty })
  .openapi('JoinToken');

export const JoinTokenPage = Page(JoinToken);

export const NewJoinToken = z
  .object({
    ...JOIN_TOKEN_FIELDS,
    token: z.string().openapi({ description: 'The token itself: shown this once.' }),
    ca_sha256: z.string().openapi({
      description:
        "SHA-256 of the certificate of the fleet's authority, by which the host knows whom to give the token to: lower-case hex, empty until a scheduler has made the authority.",
    }),
  })
  .openapi('NewJoinToken');

/** A day is enough to set a host up; a month for those that are still on their way. */
const DEFAULT_HOURS = 24;
const MOST_HOURS = 720;

export const CreateJoinToken = z
  .strictObject({
    location: CatalogueKey,
    expires_in_hours: z.int().min(1).max(MOST_HOURS).default(DEFAULT_HOURS),
  })
  .openapi('CreateJoinToken');

export const JoinTokenParams = z.object({ join_token_id: Id });
