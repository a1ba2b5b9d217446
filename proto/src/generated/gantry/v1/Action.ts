// Original file: gantry/v1/host.proto

export const Action = {
  ACTION_UNSPECIFIED: 'ACTION_UNSPECIFIED',
  ACTION_ALLOW: 'ACTION_ALLOW',
  ACTION_DENY: 'ACTION_DENY',
} as const;

export type Action =
  | 'ACTION_UNSPECIFIED'
  | 0
  | 'ACTION_ALLOW'
  | 1
  | 'ACTION_DENY'
  | 2

export type Action__Output = typeof Action[keyof typeof Action]
