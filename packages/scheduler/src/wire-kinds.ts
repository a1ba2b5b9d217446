import type { DeviceKind } from '@gantry/model/host-states';

/** How the wire names each kind of device. */
export const WIRE_KINDS = {
  gpu: 'DEVICE_KIND_GPU',
  drive: 'DEVICE_KIND_NVME',
} as const satisfies Record<DeviceKind, string>;
