import { z } from '@hono/zod-openapi';
import { Label, ReplyId, TimestampOrEmpty } from '../http/fields.ts';

export const Standing = z
  .object({
    organization_id: ReplyId,
    standing: z.enum(['good', 'payment_problem', 'suspended']),
    reason: z.string().openapi({ description: 'Empty if the standing is good.' }),
    since: TimestampOrEmpty,
    suspends_at: TimestampOrEmpty.openapi({
      description:
        'When the organization is suspended if its payment problem is not solved; empty if it has none.',
    }),
    stops_vms_at: TimestampOrEmpty.openapi({
      description: 'When the running VMs of a suspended organization are stopped.',
    }),
  })
  .openapi('Standing');

const MOST_GRACE_HOURS = 720;

export const SuspendOrganization = z
  .strictObject({
    reason: Label,
    grace_hours: z
      .int('must be a whole number')
      .min(0, 'must not be negative')
      .max(MOST_GRACE_HOURS, `must be at most ${MOST_GRACE_HOURS}`)
      .default(24),
  })
  .openapi('SuspendOrganization');
