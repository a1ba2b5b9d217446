import type { VmUsageRow } from '@gantry/db/queries/usage/vm-usage';
import { z } from '@hono/zod-openapi';
import {
  CommaList,
  Id,
  Items,
  ReplyId,
  Text,
  Timestamp,
  TimestampOrEmpty,
} from '../http/fields.ts';

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
      adjustment_reason: z.string().openapi({
        description:
          'Why the closed day was adjusted; empty for the usage that the day was closed with.',
      }),
      adjusted_at: TimestampOrEmpty.openapi({
        description: 'When the adjustment was recorded; empty if the item is none.',
      }),
    })
    .openapi('Usage'),
);

/** What a tenant pays. A type that is not listed has no price. */
export const TenantPrices = Items(
  z
    .object({
      resource_type: z.string().openapi({ description: 'A VM type or a disk type.' }),
      billable_metric: z.enum(['vm_seconds', 'gb_hours']).openapi({
        description: 'VMs are charged by the second; disks by size and time.',
      }),
      usd_per_hour: z.number().openapi({ description: 'For a disk type, per GB.' }),
    })
    .openapi('TenantPrice'),
);

export const VmUsage = z
  .object({
    vm_id: ReplyId,
    until: Timestamp.openapi({ description: 'The moment until which the usage is counted.' }),
    vm_seconds: z.number().openapi({ description: 'How long the VM has run.' }),
    vm_cost_usd: z.number(),
    os_disk_gb_hours: z.number(),
    os_disk_cost_usd: z.number(),
    cost_usd: z.number().openapi({ description: 'The cost of the VM and of its OS disk.' }),
    priced: z.boolean().openapi({
      description: 'False if a part of the usage had no price; that part counts as 0.',
    }),
  })
  .openapi('VmUsage');

export function vmUsageView(vmId: string, { until, ...row }: VmUsageRow): z.output<typeof VmUsage> {
  const cost = row.vm_cost_usd + row.os_disk_cost_usd;
  return {
    ...{ vm_id: vmId, until: until.toISOString(), ...row },
    // A sum of two decimal fractions may have an error in its last binary digit.
    cost_usd: Math.round(cost * 1e8) / 1e8,
  };
}
