// Original file: gantry/v1/host.proto

export const VmDesiredState = {
  VM_DESIRED_STATE_UNSPECIFIED: 'VM_DESIRED_STATE_UNSPECIFIED',
  VM_DESIRED_STATE_RUNNING: 'VM_DESIRED_STATE_RUNNING',
  VM_DESIRED_STATE_STOPPED: 'VM_DESIRED_STATE_STOPPED',
} as const;

export type VmDesiredState =
  | 'VM_DESIRED_STATE_UNSPECIFIED'
  | 0
  | 'VM_DESIRED_STATE_RUNNING'
  | 1
  | 'VM_DESIRED_STATE_STOPPED'
  | 2

export type VmDesiredState__Output = typeof VmDesiredState[keyof typeof VmDesiredState]
