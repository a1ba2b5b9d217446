// Original file: gantry/v1/host.proto

export const FreezeState = {
  FREEZE_STATE_UNSPECIFIED: 'FREEZE_STATE_UNSPECIFIED',
  FREEZE_STATE_FROZEN: 'FREEZE_STATE_FROZEN',
  FREEZE_STATE_RELEASED: 'FREEZE_STATE_RELEASED',
  FREEZE_STATE_EXPIRED: 'FREEZE_STATE_EXPIRED',
  FREEZE_STATE_FAILED: 'FREEZE_STATE_FAILED',
} as const;

export type FreezeState =
  | 'FREEZE_STATE_UNSPECIFIED'
  | 0
  | 'FREEZE_STATE_FROZEN'
  | 1
  | 'FREEZE_STATE_RELEASED'
  | 2
  | 'FREEZE_STATE_EXPIRED'
  | 3
  | 'FREEZE_STATE_FAILED'
  | 4

export type FreezeState__Output = typeof FreezeState[keyof typeof FreezeState]
