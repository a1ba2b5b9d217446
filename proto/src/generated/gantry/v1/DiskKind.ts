// Original file: gantry/v1/host.proto

export const DiskKind = {
  DISK_KIND_UNSPECIFIED: 'DISK_KIND_UNSPECIFIED',
  DISK_KIND_PERSISTENT_SSD: 'DISK_KIND_PERSISTENT_SSD',
  DISK_KIND_SHARED_VOLUME: 'DISK_KIND_SHARED_VOLUME',
} as const;

export type DiskKind =
  | 'DISK_KIND_UNSPECIFIED'
  | 0
  | 'DISK_KIND_PERSISTENT_SSD'
  | 1
  | 'DISK_KIND_SHARED_VOLUME'
  | 2

export type DiskKind__Output = typeof DiskKind[keyof typeof DiskKind]
