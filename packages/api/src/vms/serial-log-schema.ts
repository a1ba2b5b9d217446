import { z } from '@hono/zod-openapi';
import { TimestampOrEmpty } from '../http/fields.ts';

export const SerialLog = z
  .object({
    serial_log: z.string().openapi({
      description: 'The end of what the console printed, at most 64 KiB; empty: nothing yet.',
    }),
    updated_at: TimestampOrEmpty,
  })
  .openapi('SerialLog');
