import { PROBLEM_SEVERITIES } from '@gantry/model/device-problem';
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
} from '../../http/fields.ts';

const QuarantineReason = z.string().openapi({
  description: "The operator's reason to keep the device from new VMs; empty when there is none.",
});

const StateReason = z.string().openapi({
  description: 'Why the device is in its state, such as how its cleaning failed; empty otherwise.',
});

const DeviceProblem = z
  .object({
    rule: z.string().openapi({ description: 'The health rule that found it.' }),
    severity: z.enum(PROBLEM_SEVERITIES).openapi({
      description: 'block: the device is given to no new VM; warn: nothing follows from it.',
    }),
    message: z.string(),
    since: Timestamp,
    until_released: z.boolean().openapi({
      description: 'Whether it stays until the device is released; else until its cause is gone.',
    }),
  })
  .openapi('DeviceProblem');

const Problems = z
  .array(DeviceProblem)
  .openapi({ description: 'What is wrong with the device; empty when nothing is.' });

/** Numbers have no empty string: what is not known is -1. */
const UNKNOWN = '-1 when it is not known.';

const DeviceHealth = z
  .object({
    driver: z.string().openapi({ description: 'The kernel driver; empty when none is bound.' }),
    reset_methods: z.array(z.string()).openapi({
      description: 'In the order the kernel tries them; empty when the device cannot be reset.',
    }),
    link_speed_gts: z.number().openapi({
      description: `Gigatransfers per second of one lane now; ${UNKNOWN}`,
    }),
    max_link_speed_gts: z.number(),
    link_width: z.int().openapi({ description: `Lanes in use now; ${UNKNOWN}` }),
    max_link_width: z.int(),
    correctable_errors: z.int().openapi({
      description: `PCIe errors since the kernel found the device; ${UNKNOWN}`,
    }),
    nonfatal_errors: z.int(),
    fatal_errors: z.int(),
  })
  .openapi('DeviceHealth', { description: 'As the host last reported it.' });

const DEVICE_FIELDS = {
  id: ReplyId,
  pci_address: z.string(),
  numa_node: z.int(),
  state: z.enum(DEVICE_STATES),
  state_reason: StateReason,
  quarantine_reason: QuarantineReason,
  problems: Problems,
  vm_id: ReplyIdOrEmpty.openapi({ description: 'The VM that has it; empty when it is free.' }),
  health: DeviceHealth,
};

const HostGpu = z
  .object({
    ...DEVICE_FIELDS,
    model: z.string(),
    pcie_switch: z.string().openapi({
      description: 'A name that GPUs behind the same PCIe switch share; empty when there is none.',
    }),
    iommu_group: z.int().openapi({
      description: '-1 when it is in none, so that it cannot be given to a VM.',
    }),
    nvlink_peer: z.string().openapi({
      description:
        'PCI address of the GPU at the other end of an NVLink bridge; empty when there is none.',
    }),
  })
  .openapi('HostGpu');

const HostDrive = z
  .object({
    ...DEVICE_FIELDS,
    size_gb: z.int(),
    serial: z.string().openapi({ description: 'Empty while it is not known.' }),
    uses: z.array(z.string()).openapi({
      description: 'What the host itself does with the drive; empty when nothing.',
    }),
  })
  .openapi('HostDrive');

const HostNumaNode = z
  .object({
    node: z.int(),
    cores: z.int(),
    memory_mib: z.int(),
    network_gbps: z.number(),
  })
  .openapi('HostNumaNode', {
    description: 'All of what a NUMA node has for VMs, whoever has it now.',
  });

export const Host = z
  .object({
    id: ReplyId,
    name: z.string(),
    location: z.string(),
    state: z.enum(HOST_STATES).openapi({ description: 'What is known of the host.' }),
    admin_state: z
      .enum(HOST_ADMIN_STATES)
      .openapi({ description: 'What operators want of the host.' }),
    connected: z.boolean().openapi({ description: 'Whether its agent is on the line now.' }),
    last_seen_at: TimestampOrEmpty.openapi({
      description: 'When its agent was last on the line; empty if it never was.',
    }),
    fenced_at: TimestampOrEmpty.openapi({
      description: 'When an operator said that the host is dead; empty otherwise.',
    }),
    created_at: Timestamp,
    agent_version: z.string().openapi({ description: 'Empty before its first report.' }),
    software: z
      .object({
        os: z.string(),
        kernel: z.string(),
        firmware: z.string(),
        libvirt: z.string(),
        command_line: z.string(),
        iommu: z.string(),
      })
      .openapi({ description: 'Versions, as the host last reported them; empty when unknown.' }),
    drift: z.array(z.string()).openapi({
      description:
        'How the host differs from what was accepted, a sentence each: no new VM is placed on it until it is as it was, or is accepted as it is. Empty when it does not.',
    }),
    shared_storage: z.boolean().openapi({
      description: 'Whether every host of the location reaches the disks that this one keeps.',
    }),
    wanted_number: z.int().openapi({ description: 'The number of what the host is to do now.' }),
    accepted_number: z.int().openapi({
      description: 'The last such number its agent took; 0 if it never took any.',
    }),
    refusal: z.string().openapi({
      description: 'Why its agent refused what it is to do; empty when it did not.',
    }),
    unknown_vms: z.array(z.string()).openapi({
      description: 'VMs found on the host that nobody asked for; they are left alone.',
    }),
    numa_nodes: z.array(HostNumaNode),
    gpus: z.array(HostGpu),
    drives: z.array(HostDrive),
    vm_count: z.int(),
  })
  .openapi('Host');

export const HostPage = Page(Host);

const HostCertificate = z
  .object({
    serial: z.string().openapi({ description: 'As X.509 has it, in lower-case hex.' }),
    not_after: Timestamp,
    created_at: Timestamp,
    revoked_at: TimestampOrEmpty,
  })
  .openapi('HostCertificate');

const PlacedVm = z
  .object({
    id: ReplyId,
    project_id: ReplyId,
    name: z.string(),
    state: z.enum(VM_STATES),
  })
  .openapi('PlacedVm');

export const HostDetails = Host.extend({
  certificates: z.array(HostCertificate).openapi({ description: 'Oldest first.' }),
  vms: z.array(PlacedVm).openapi({ description: 'Those placed on the host, oldest first.' }),
}).openapi('HostDetails');

export const DrainingHost = HostDetails.extend({
  remaining_vms: z.array(PlacedVm),
}).openapi('DrainingHost');

export const HostQuery = z.strictObject({
  ...Paging,
  location: Text(63).optional(),
  state: z.enum(HOST_STATES).optional(),
  admin_state: z.enum(HOST_ADMIN_STATES).optional(),
});

export const HostParams = z.object({ host_id: Id });

export const FenceHost = z
  .strictObject({
    confirm: Text(255).openapi({ description: 'The name of the host.' }),
  })
  .openapi('FenceHost');

export const Device = z
  .object({
    id: ReplyId,
    kind: z.enum(DEVICE_KINDS),
    host_id: ReplyId,
    pci_address: z.string(),
    state: z.enum(DEVICE_STATES),
    state_reason: StateReason,
    quarantine_reason: QuarantineReason,
    problems: Problems,
  })
  .openapi('Device');

export const QuarantineDevice = z.strictObject({ reason: Label }).openapi('QuarantineDevice');

export const DeviceParams = z.object({ device_id: Id });
