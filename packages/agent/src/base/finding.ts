export type Severity = 'ok' | 'warn' | 'fail';

/** One line of the doctor's output. */
export type Finding = {
  /** What was checked. */
  check: string;
  severity: Severity;
  /** What was found. */
  found: string;
  /** What to do about it. Empty: nothing. */
  advice: string;
};

export const ok = (check: string, found: string): Finding => ({
  ...{ check, severity: 'ok', found, advice: '' },
});

/** The host works, but not as well or as safely as it could. */
export const warn = (check: string, found: string, advice: string): Finding => ({
  ...{ check, severity: 'warn', found, advice },
});

/** VMs or devices will not work. */
export const fail = (check: string, found: string, advice: string): Finding => ({
  ...{ check, severity: 'fail', found, advice },
});
