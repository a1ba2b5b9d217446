/** What is wrong with a GPU or a drive of a host, as health rules find it. */

/** Block: the device takes no new VM. Warn: operators are told, nothing more. */
export const PROBLEM_SEVERITIES = ['block', 'warn'] as const;
export type ProblemSeverity = (typeof PROBLEM_SEVERITIES)[number];

export type DeviceProblem = {
  /** The rule that found it: a device has at most one problem of each. */
  rule: string;
  severity: ProblemSeverity;
  message: string;
  /** When it was found first, in ISO 8601. */
  since: string;
  /** Whether it stays until an operator releases the device. False: until its cause is gone. */
  until_released: boolean;
};
