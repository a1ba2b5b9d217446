// Original file: gantry/v1/host.proto

export const DeviceKind = {
  DEVICE_KIND_UNSPECIFIED: 'DEVICE_KIND_UNSPECIFIED',
  DEVICE_KIND_GPU: 'DEVICE_KIND_GPU',
  DEVICE_KIND_NVME: 'DEVICE_KIND_NVME',
} as const;

export type DeviceKind =
  | 'DEVICE_KIND_UNSPECIFIED'
  | 0
  | 'DEVICE_KIND_GPU'
  | 1
  | 'DEVICE_KIND_NVME'
  | 2

export type DeviceKind__Output = typeof DeviceKind[keyof typeof DeviceKind]
