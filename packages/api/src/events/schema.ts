import { EVENT_TYPES, RESOURCE_TYPES } from '@gantry/model/states';
import { z } from '@hono/zod-openapi';
import { Id, Page, Paging, ReplyId, Timestamp } from '../http/fields.ts';

const Event = z
  .object({
    id: ReplyId,
    type: z.enum(EVENT_TYPES),
    message: z.string().openapi({ description: 'For people: what happened and what to do.' }),
    resource_type: z.enum(RESOURCE_TYPES),
    resource_id: ReplyId.openapi({ description: 'It may be gone by now.' }),
    created_at: Timestamp,
  })
  .openapi('Event');

export const EventPage = Page(Event);

export const EventQuery = z.strictObject({
  ...Paging,
  resource_id: Id.optional(),
  type: z.enum(EVENT_TYPES).optional(),
});
