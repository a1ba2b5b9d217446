// Original file: gantry/v1/host.proto

export const Direction = {
  DIRECTION_UNSPECIFIED: 'DIRECTION_UNSPECIFIED',
  DIRECTION_INGRESS: 'DIRECTION_INGRESS',
  DIRECTION_EGRESS: 'DIRECTION_EGRESS',
} as const;

export type Direction =
  | 'DIRECTION_UNSPECIFIED'
  | 0
  | 'DIRECTION_INGRESS'
  | 1
  | 'DIRECTION_EGRESS'
  | 2

export type Direction__Output = typeof Direction[keyof typeof Direction]
