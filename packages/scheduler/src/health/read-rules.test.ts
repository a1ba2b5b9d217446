import { describe, expect, it } from 'vitest';
import { HEALTH_RULES } from './health-rules.ts';
import { fingerprintRules, readHealthRules } from './read-rules.ts';

const ruleOf = (setting: string | undefined, name: string) =>
  readHealthRules(setting).find((rule) => rule.name === name);

describe('health rules', () => {
  it('have their defaults if the setting is absent', () => {
    expect(readHealthRules(undefined)).toEqual(HEALTH_RULES);
    expect(new Set(HEALTH_RULES.map(({ name }) => name)).size).toBe(HEALTH_RULES.length);
  });

  it('change only as the operator sets them', () => {
    const setting = '{"drive_worn": {"threshold": 80}, "link_slow": {"severity": "block"}}';
    expect(ruleOf(setting, 'drive_worn')).toMatchObject({ threshold: 80, severity: 'warn' });
    expect(ruleOf(setting, 'link_slow')).toMatchObject({ threshold: 0.5, severity: 'block' });
    expect(ruleOf(setting, 'link_narrow')).toMatchObject({ threshold: 1, severity: 'block' });
  });

  it('have another fingerprint after a change of the setting', () => {
    const names = [undefined, '{"lost": {"threshold": 2}}', '{"lost": {"severity": "off"}}'];
    expect(new Set(names.map((setting) => fingerprintRules(readHealthRules(setting)))).size).toBe(
      3,
    );
  });

  it.each([
    ['{', 'it is not JSON'],
    ['[]', 'it must be an object'],
    ['null', 'it must be an object'],
    ['{"link_loud": {}}', 'there is no rule "link_loud"; there are lost, stuck, link_narrow'],
    ['{"toString": {}}', 'there is no rule "toString"'],
    ['{"lost": 1}', '"lost" must be an object'],
    ['{"lost": {"treshold": 1}}', '"lost" has no "treshold"'],
    ['{"lost": {"threshold": 0}}', 'the threshold of "lost" must be a number above 0'],
    ['{"lost": {"threshold": "1"}}', 'the threshold of "lost" must be a number above 0'],
    ['{"lost": {"severity": "fatal"}}', 'the severity of "lost" must be one of block, warn, off'],
  ])('reject %s with the name of the setting and the remedy', (setting, reason) => {
    expect(() => readHealthRules(setting)).toThrow(`GANTRY_HEALTH_RULES: ${reason}`);
  });
});
