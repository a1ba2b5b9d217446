import { PROBLEM_SEVERITIES } from '@gantry/model/device-problem';
import { DEVICE_KINDS, DEVICE_STATES } from '@gantry/model/host-states';
import { z } from '@hono/zod-openapi';
import { Hours, Id, Label, ReplyId, ReplyIdOrEmpty, Timestamp } from '../../http/fields.ts';

const QuarantineReason = z.string().openapi({
  description: 'Why an operator quarantined the device; empty if it is not quarantined.',
});

const StateReason = z.string().openapi({
  description:
    'Why the device is in its state, for example how its cleaning failed; empty if there is no reason.',
});

const DeviceProblem = z
  .object({
    rule: z.string().openapi({ description: 'The health rule that found the problem.' }),
    severity: z.enum(PROBLEM_SEVERITIES).openapi({
      description: 'block: no new VM gets the device. warn: the problem is only shown.',
    }),
    message: z.string(),
    since: Timestamp,
    until_released: z.boolean().openapi({
      description:
        'True if the problem lasts until the device is released; false if it ends with its cause.',
    }),
  })
  .openapi('DeviceProblem');

const Problems = z
  .array(DeviceProblem)
  .openapi({ description: 'The known problems of the device.' });

/** A number cannot be the empty string, so an unknown number is -1. */
const UNKNOWN = '-1 if unknown.';

const DeviceHealth = z
  .object({
    driver: z.string().openapi({ description: 'The kernel driver; empty if none is bound.' }),
    reset_methods: z.array(z.string()).openapi({
      description:
        'In the order in which the kernel tries them; empty if the device cannot be reset.',
    }),
    link_speed_gts: z.number().openapi({
      description: `Current gigatransfers per second of one lane; ${UNKNOWN}`,
    }),
    max_link_speed_gts: z.number(),
    link_width: z.int().openapi({ description: `Lanes that are in use; ${UNKNOWN}` }),
    max_link_width: z.int(),
    correctable_errors: z.int().openapi({
      description: `PCIe errors since the kernel found the device; ${UNKNOWN}`,
    }),
    nonfatal_errors: z.int(),
    fatal_errors: z.int(),
  })
  .openapi('DeviceHealth', { description: 'As the host last reported it.' });

const MAX_HOURS = 90 * 24;
export const DeviceReadingQuery = z.strictObject({ hours: Hours(MAX_HOURS, 30 * 24) });

const DeviceReading = z
  .object({
    at: Timestamp,
    link_speed_gts: z.number().openapi({ description: `As in DeviceHealth; ${UNKNOWN}` }),
    link_width: z.int(),
    correctable_errors: z.int(),
    nonfatal_errors: z.int(),
    fatal_errors: z.int(),
    corrected_memory_errors: z.int().openapi({
      description: `Errors of a GPU's memory and caches since its driver was loaded; ${UNKNOWN}`,
    }),
    uncorrected_memory_errors: z.int(),
    wear_percent: z.number().openapi({
      description: `How much of a drive's life is used, by its own estimate; can exceed 100; ${UNKNOWN}`,
    }),
    spare_percent: z.number().openapi({
      description: `How much of its spare blocks a drive has left; ${UNKNOWN}`,
    }),
    media_errors: z.int().openapi({
      description: `Errors of the medium that a drive could not correct; ${UNKNOWN}`,
    }),
  })
  .openapi('DeviceReading', { description: 'Valid from its time to that of the next one.' });
export const DeviceReadings = z.object({ items: z.array(DeviceReading) }).openapi('DeviceReadings');

const DEVICE_FIELDS = {
  id: ReplyId,
  pci_address: z.string(),
  numa_node: z.int(),
  state: z.enum(DEVICE_STATES),
  state_reason: StateReason,
  quarantine_reason: QuarantineReason,
  problems: Problems,
  vm_id: ReplyIdOrEmpty.openapi({
    description: 'The VM that has the device; empty if it is free.',
  }),
  health: DeviceHealth,
};

export const HostGpu = z
  .object({
    ...DEVICE_FIELDS,
    model: z.string(),
    pcie_switch: z.string().openapi({
      description: 'The same for all GPUs behind one PCIe switch; empty if there is no switch.',
    }),
    iommu_group: z.int().openapi({
      description: '-1 if the GPU has no IOMMU group; such a GPU cannot be given to a VM.',
    }),
    nvlink_peer: z.string().openapi({
      description:
        'PCI address of the GPU at the other end of an NVLink bridge; empty if there is none.',
    }),
  })
  .openapi('HostGpu');

export const HostDrive = z
  .object({
    ...DEVICE_FIELDS,
    size_gb: z.int(),
    serial: z.string().openapi({ description: 'Empty if it is not known yet.' }),
    uses: z.array(z.string()).openapi({
      description: 'How the host itself uses the drive; empty if it does not.',
    }),
  })
  .openapi('HostDrive');

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

/** A device in the reply of a placement trace. */
export const PlacedDevice = z.object({ id: ReplyId, pci_address: z.string() });
