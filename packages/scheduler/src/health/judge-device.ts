import type { DeviceProblem } from '@gantry/model/device-problem';
import type { HealthRule } from './health-rules.ts';
import type { SeenDevice } from './seen-device.ts';

export type Judgement = {
  rules: readonly HealthRule[];
  /** The device in the previous inventory. Undefined if it was not there. */
  before: SeenDevice | undefined;
  now: SeenDevice;
  /** The known problems of the device. */
  standing: readonly DeviceProblem[];
  at: Date;
};

/** Returns the problems of the device now, in the order of the rules. Pure. */
export function judgeDevice({ rules, before, now, standing, at }: Judgement): DeviceProblem[] {
  // The problems of another device that was at this address do not apply to this device.
  const isSame = before === undefined || isSameDevice(before, now);
  const device = { before: isSame ? before : undefined, now, at };
  return rules.flatMap((rule) => {
    if (rule.severity === 'off' || !applies(rule, now)) return [];
    const stands = isSame ? standing.find((problem) => problem.rule === rule.name) : undefined;
    const problem = judge(rule, device, stands);
    return problem ? [{ ...problem, severity: rule.severity }] : [];
  });
}

function applies({ of, except }: HealthRule, { kind }: SeenDevice): boolean {
  return (of === 'any' && except !== kind) || of === kind;
}

type Finding = Omit<DeviceProblem, 'severity'>;
type Device = { before: SeenDevice | undefined; now: SeenDevice; at: Date };

function judge(
  rule: HealthRule,
  { before, now, at }: Device,
  stands: DeviceProblem | undefined,
): Finding | undefined {
  const found = (amount: number): Finding => ({
    rule: rule.name,
    message: rule.message(now, amount),
    since: stands?.since ?? at.toISOString(),
    until_released: rule.compares === 'rise',
  });
  const level = now.lost && rule.name !== 'lost' ? null : rule.measure(now);
  if (rule.compares === 'rise') {
    const rise = riseFrom(before ? rule.measure(before) : null, level);
    return rise >= rule.threshold ? found(rise) : stands;
  }
  // A value that cannot be read cannot show that the problem is over: an operator must end it.
  if (level === null) return stands && { ...stands, until_released: true };
  return level >= rule.threshold ? found(level) : undefined;
}

/** A counter that is smaller than before was reset, so its whole value is new. */
function riseFrom(before: number | null, now: number | null): number {
  if (before === null || now === null) return 0;
  return now < before ? now : now - before;
}

function isSameDevice(before: SeenDevice, now: SeenDevice): boolean {
  return (
    before.vendorId === now.vendorId &&
    before.deviceId === now.deviceId &&
    (before.serial === now.serial || before.serial === '' || now.serial === '')
  );
}
