import { ERROR_KINDS } from '@gantry/model/errors';
import { z } from '@hono/zod-openapi';

export const ErrorBody = z
  .object({
    code: z.enum(Object.keys(ERROR_KINDS) as [keyof typeof ERROR_KINDS]),
    message: z.string(),
    error_id: z.guid(),
    details: z.unknown().optional(),
  })
  .openapi('Error');
