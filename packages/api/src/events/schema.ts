import { EVENT_TYPES, RESOURCE_TYPES } from '@gantry/model/states';
import { z } from '@hono/zod-openapi';
import { Id, Page, Paging, ReplyId, Timestamp } from '../http/fields.ts';

const Event = z
  .object({
    id: ReplyId,
    type: z.enum(EVENT_TYPES),
    message: z
      .string()
      .openapi({ description: 'What happened and what to do, for people to read.' }),
    resource_type: z.enum(RESOURCE_TYPES),
    resource_id: ReplyId.openapi({
      description: 'The resource, which may have been deleted since.',
    }),
    created_at: Timestamp,
  })
  .openapi('Event');

export const EventPage = Page(Event);

const AdminEvent = Event.extend({ project_id: ReplyId }).openapi('AdminEvent');
export const AdminEventPage = Page(AdminEvent);

export const EventQuery = z.strictObject({
  ...Paging,
  resource_id: Id.optional(),
  type: z.enum(EVENT_TYPES).optional(),
});

export const AdminEventQuery = EventQuery.extend({ project_id: Id.optional() });
