// Original file: gantry/v1/host.proto

export const SnapshotState = {
  SNAPSHOT_STATE_UNSPECIFIED: 'SNAPSHOT_STATE_UNSPECIFIED',
  SNAPSHOT_STATE_WORKING: 'SNAPSHOT_STATE_WORKING',
  SNAPSHOT_STATE_TAKEN: 'SNAPSHOT_STATE_TAKEN',
  SNAPSHOT_STATE_READY: 'SNAPSHOT_STATE_READY',
  SNAPSHOT_STATE_FAILED: 'SNAPSHOT_STATE_FAILED',
} as const;

export type SnapshotState =
  | 'SNAPSHOT_STATE_UNSPECIFIED'
  | 0
  | 'SNAPSHOT_STATE_WORKING'
  | 1
  | 'SNAPSHOT_STATE_TAKEN'
  | 2
  | 'SNAPSHOT_STATE_READY'
  | 3
  | 'SNAPSHOT_STATE_FAILED'
  | 4

export type SnapshotState__Output = typeof SnapshotState[keyof typeof SnapshotState]
