import {
  DEVICE_KINDS,
  DEVICE_STATES,
  HOST_ADMIN_STATES,
  HOST_STATES,
} from '@gantry/model/host-states';
import { VM_STATES } from '@gantry/model/states';
import { z } from '@hono/zod-openapi';
import {
  Id,
  Label,
  Page,
  Paging,
  ReplyId,
  ReplyIdOrEmpty,
  Text,
  Timestamp,
  TimestampOrEmpty,
} from './fields.ts';

const QuarantineReason = z.string().openapi({
  description: "The operator's reason to keep the device from new VMs; empty when there is none.",
});

const DEVICE_FIELDS = {
  id: ReplyId,
  pci_address: z.string(),
  numa_node: z.int(),
  state: z.enum(DEVICE_STATES),
  quarantine_reason: QuarantineReason,
  vm_id: ReplyIdOrEmpty.openapi({ description: 'The VM that has it; empty when it is free.' }),
};
const HostGpu = z.object({ ...DEVICE_FIELDS, model: z.string() }).openapi('HostGpu');
const HostDrive = z.object({ ...DEVICE_FIELDS, size_gb: z.int() }).openapi('HostDrive');

export const Host = z
  .object({
    id: ReplyId,
    name: z.string(),
    location: z.string(),
    state: z.enum(HOST_STATES).openapi({ description: 'What is known of the host.' }),
    admin_state: z
      .enum(HOST_ADMIN_STATES)
      .openapi({ description: 'What operators want of the host.' }),
    last_seen_at: TimestampOrEmpty,
    created_at: Timestamp,
    gpus: z.array(HostGpu),
    drives: z.array(HostDrive),
    vm_count: z.int(),
  })
  .openapi('Host');

export const HostPage = Page(Host);

export const DrainingHost = Host.extend({
  remaining_vms: z.array(
    z.object({
      id: ReplyId,
      project_id: ReplyId,
      name: z.string(),
      state: z.enum(VM_STATES),
    }),
  ),
}).openapi('DrainingHost');

export const HostQuery = z.strictObject({
  ...Paging,
  location: Text(63).optional(),
  state: z.enum(HOST_STATES).optional(),
  admin_state: z.enum(HOST_ADMIN_STATES).optional(),
});

export const HostParams = z.object({ host_id: Id });

export const Device = z
  .object({
    id: ReplyId,
    kind: z.enum(DEVICE_KINDS),
    host_id: ReplyId,
    pci_address: z.string(),
    state: z.enum(DEVICE_STATES),
    quarantine_reason: QuarantineReason,
  })
  .openapi('Device');

export const QuarantineDevice = z.strictObject({ reason: Label }).openapi('QuarantineDevice');

export const DeviceParams = z.object({ device_id: Id });
