import { z } from '@hono/zod-openapi';
import { Timestamp } from '../http/fields.ts';

export const ConsoleTicket = z
  .object({
    ticket: z.string(),
    url: z.string().openapi({
      description: 'Open a WebSocket here, without any header: the ticket is part of it.',
    }),
    expires_at: Timestamp,
  })
  .openapi('ConsoleTicket');

export const ConsoleQuery = z.strictObject({
  ticket: z.string().max(100).optional().openapi({
    description: 'From POST to the same path, in place of a bearer. Good once.',
  }),
});

/** Behind it nobody sees a body. */
export const Opened = z.object({});
