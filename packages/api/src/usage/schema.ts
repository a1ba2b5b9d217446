import { z } from '@hono/zod-openapi';
import { CommaList, Id, Items, ReplyId, Text } from '../http/fields.ts';

/** A day in UTC on which usage is possible. */
const IsoDate = z.iso
  .date('must be a date such as 2026-01-31')
  .refine((date) => date >= '2000-01-01', 'must not be before 2000-01-01');

export const UsageQuery = z.strictObject({
  start_date: IsoDate.optional().openapi({
    description: 'The first day of the period; 29 days before end_date by default.',
  }),
  end_date: IsoDate.optional().openapi({
    description: 'The last day of the period; the last closed day by default.',
  }),
  projects: CommaList(Id),
  resource_types: CommaList(Text(63)),
  regions: CommaList(Text(63)),
});

export const Usage = Items(
  z
    .object({
      date: z.iso.date(),
      project_id: ReplyId,
      resource_type: z.string().openapi({ description: 'A VM type or a disk type.' }),
      billable_metric: z.enum(['vm_seconds', 'gb_hours']),
      quantity: z.number(),
      region: z.string(),
      cost_usd: z.number(),
      priced: z.boolean().openapi({
        description: 'False if the type had no price when the day was closed; the cost is then 0.',
      }),
    })
    .openapi('Usage'),
);
