import type { VmUsageRow } from '@gantry/db/queries/usage/vm-usage';
import { z } from '@hono/zod-openapi';
import { ReplyId, Timestamp } from '../http/fields.ts';

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
