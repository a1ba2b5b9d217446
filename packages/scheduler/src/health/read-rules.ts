import { SettingsError } from '@gantry/daemon/settings';
import { PROBLEM_SEVERITIES } from '@gantry/model/device-problem';
import { HEALTH_RULES, type HealthRule } from './health-rules.ts';

export const RULES_SETTING = 'GANTRY_HEALTH_RULES';

const SEVERITIES: readonly unknown[] = [...PROBLEM_SEVERITIES, 'off'];

/**
 * Returns the rules with the operator's changes. The setting is JSON, for example:
 * {"link_slow": {"severity": "off"}, "drive_worn": {"threshold": 80}}
 */
export function readHealthRules(setting: string | undefined): HealthRule[] {
  const changes = setting === undefined ? {} : parse(setting);
  for (const name of Object.keys(changes)) {
    if (HEALTH_RULES.some((rule) => rule.name === name)) continue;
    const names = HEALTH_RULES.map((rule) => rule.name).join(', ');
    throw wrong(`there is no rule "${name}"; there are ${names}`);
  }
  return HEALTH_RULES.map((rule) => {
    const change = Object.hasOwn(changes, rule.name) ? changes[rule.name] : {};
    return { ...rule, ...checked(rule.name, change) };
  });
}

/** Returns a text that changes with the rules. Devices are judged again when it changes. */
export function fingerprintRules(rules: readonly HealthRule[]): string {
  return rules.map(({ name, threshold, severity }) => `${name}:${threshold}:${severity}`).join(' ');
}

function parse(setting: string): Record<string, unknown> {
  try {
    return asObject(JSON.parse(setting), 'it');
  } catch (error) {
    if (error instanceof SyntaxError) throw wrong(`it is not JSON: ${error.message}`);
    throw error;
  }
}

function checked(name: string, change: unknown): Partial<HealthRule> {
  const { threshold, severity, ...others } = asObject(change, `"${name}"`);
  const other = Object.keys(others)[0];
  if (other !== undefined)
    throw wrong(`"${name}" has no "${other}": a rule has a threshold and a severity`);
  if (threshold !== undefined && !isThreshold(threshold))
    throw wrong(`the threshold of "${name}" must be a number above 0`);
  if (severity !== undefined && !SEVERITIES.includes(severity))
    throw wrong(`the severity of "${name}" must be one of ${SEVERITIES.join(', ')}`);
  return {
    ...(threshold !== undefined && { threshold }),
    ...(severity !== undefined && { severity: severity as HealthRule['severity'] }),
  };
}

/** With a threshold of 0 every device would have every problem. */
const isThreshold = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0;

function asObject(value: unknown, what: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw wrong(`${what} must be an object, such as {"link_slow": {"severity": "off"}}`);
}

const wrong = (reason: string) => new SettingsError(`${RULES_SETTING}: ${reason}`);
