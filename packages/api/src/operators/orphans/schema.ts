import { z } from '@hono/zod-openapi';
import { Id, NamedListQuery, Page, ReplyId, ReplyIdOrEmpty, Timestamp } from '../../http/fields.ts';

export const Orphan = z
  .object({
    id: ReplyId,
    host_id: ReplyId,
    vm_id: ReplyId,
    project_id: ReplyIdOrEmpty.openapi({
      description: 'The project that the host knows; empty if the host does not know it.',
    }),
    name: z.string(),
    type: z.string(),
    found_at: Timestamp,
    decision: z.enum(['', 'give_back', 'delete']).openapi({
      description: 'What an operator decided and the host has not carried out yet.',
    }),
    problem: z.string().openapi({
      description: 'Why the last decision could not be carried out; empty if there is no reason.',
    }),
    device_addresses: z.array(z.string()).openapi({
      description: 'PCI addresses of the devices that are kept for it.',
    }),
    private_addresses: z.array(z.string()),
    public_addresses: z.array(z.string()),
    disk_ids: z.array(z.string()),
  })
  .openapi('Orphan');

export const OrphanPage = Page(Orphan);
export const OrphanQuery = z.strictObject({
  ...NamedListQuery,
  host_id: Id.optional(),
});
export const OrphanParams = z.object({ orphan_id: Id });
