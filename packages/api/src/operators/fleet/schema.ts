import { GPU_USES, HOST_ADMIN_STATES, HOST_STATES } from '@gantry/model/host-states';
import { z } from '@hono/zod-openapi';
import { CommaList, Hours, Id, ReplyId, Text, Timestamp } from '../../http/fields.ts';

/** The lists have one entry per GPU, because a fleet has thousands of them and one reply shows them all. */
const FleetGpus = z
  .object({
    numa_node: z.int(),
    pcie_switch: z.string(),
    model: z.string(),
    addresses: z.array(z.string()).openapi({ description: 'The PCI address of each GPU.' }),
    states: z.array(z.enum(GPU_USES)).openapi({ description: 'The state of each GPU.' }),
    vms: z.array(z.int()).openapi({
      description:
        'The position of the holder of each GPU in `vms` of the host; -1 if it has none.',
    }),
  })
  .openapi('FleetGpus', { description: 'GPUs of one model behind the same PCIe switch.' });

const FleetHost = z
  .object({
    id: ReplyId,
    name: z.string(),
    location: z.string(),
    rack: z
      .string()
      .openapi({ description: 'The label "rack" of the host; empty if it has none.' }),
    state: z.enum(HOST_STATES),
    admin_state: z.enum(HOST_ADMIN_STATES),
    closed_reason: z.string().openapi({
      description: 'Why no new VM is placed on the host; empty if VMs are.',
    }),
    gpus: z.array(FleetGpus),
    vms: z
      .array(z.object({ id: ReplyId, name: z.string() }))
      .openapi({ description: 'The VMs that have GPUs of the host.' }),
  })
  .openapi('FleetHost');

export const Fleet = z.object({ hosts: z.array(FleetHost) }).openapi('Fleet');

export const FleetQuery = z.strictObject({
  location: Text(63).optional(),
  host_ids: CommaList(Id),
});

const CAPACITY = {
  location: z.string(),
  model: z.string(),
  free: z.int(),
  sold: z.int(),
  cleaning: z.int(),
  blocked: z.int(),
  free_on_whole_hosts: z.int().openapi({
    description: 'Those of the free GPUs whose host has only free GPUs of this model.',
  }),
};
const Capacity = z.object(CAPACITY).openapi('Capacity');

export const FleetSummary = z
  .object({
    gpus: z.array(Capacity),
    hosts: z.int(),
    hosts_lost: z.int().openapi({ description: 'Hosts that are unreachable or fenced.' }),
    hosts_cordoned: z.int().openapi({ description: 'Hosts that are cordoned or draining.' }),
    hosts_drifted: z.int(),
    hosts_troubled: z.int(),
    failed_operations: z.int().openapi({
      description: 'Operations of all tenants that were requested in the last 24 hours and failed.',
    }),
  })
  .openapi('FleetSummary');

const CapacitySample = z.object({ at: Timestamp, ...CAPACITY }).openapi('CapacitySample');
export const CapacityHistory = z
  .object({ items: z.array(CapacitySample) })
  .openapi('CapacityHistory');

const MAX_HOURS = 90 * 24;
export const CapacityHistoryQuery = z.strictObject({
  location: Text(63).optional(),
  model: Text(63).optional(),
  hours: Hours(MAX_HOURS, 24),
});
