/** Problems of a GPU or a drive, found by health rules. */

/** `block`: the device takes no new VM. `warn`: the problem is only shown to operators. */
export const PROBLEM_SEVERITIES = ['block', 'warn'] as const;
export type ProblemSeverity = (typeof PROBLEM_SEVERITIES)[number];

export type DeviceProblem = {
  /** The rule that found the problem. A device has at most one problem per rule. */
  rule: string;
  severity: ProblemSeverity;
  message: string;
  /** When the problem was found first, in ISO 8601. */
  since: string;
  /** True: it stays until an operator releases the device. False: until its cause is gone. */
  until_released: boolean;
};
