import { z } from '@hono/zod-openapi';
import { Id, ReplyId, ReplyIdOrEmpty, Text } from '../../http/fields.ts';
import { PlacedDevices } from '../devices/device-lists.ts';

export const ExplainPlacement = z
  .strictObject({
    type: Text(63),
    location: Text(63),
    host_id: Id.optional().openapi({ description: 'Explain only this host.' }),
  })
  .openapi('ExplainPlacement');

export const PlacementExplanation = z
  .object({
    placement: z
      .object({
        host_id: ReplyIdOrEmpty,
        host_name: z.string(),
        ...PlacedDevices,
        numa_nodes: z.array(
          z.object({
            node: z.int(),
            gpus: z.int(),
            cores: z.int(),
            memory_mib: z.int(),
            network_gbps: z.number(),
          }),
        ),
      })
      .openapi({
        description: 'Where a VM would be placed now; host_id is empty if no host fits.',
      }),
    filters: z.array(z.object({ filter: z.string(), left: z.int() })).openapi({
      description: 'The filters in the order of their use, and how many hosts each leaves.',
    }),
    hosts: z
      .array(
        z.object({
          host_id: ReplyId,
          name: z.string(),
          fits: z.boolean(),
          reason: z
            .string()
            .openapi({ description: 'Why the host does not fit; empty if it fits.' }),
        }),
      )
      .openapi({ description: 'Sorted by name; at most 1000 hosts.' }),
  })
  .openapi('PlacementExplanation');
