import { z } from '@hono/zod-openapi';
import { Timestamp } from '../http/fields.ts';

export const ConsoleTicket = z
  .object({
    ticket: z.string(),
    url: z.string().openapi({
      description:
        'Open a WebSocket to this URL. It contains the ticket, so the request needs no headers.',
    }),
    expires_at: Timestamp,
  })
  .openapi('ConsoleTicket');

export const ConsoleQuery = z.strictObject({
  ticket: z.string().max(100).optional().openapi({
    description:
      'A ticket from POST to the same path, instead of the Authorization header. It works once.',
  }),
});

/** The reply is a WebSocket, so it has no body. */
export const Opened = z.object({});
