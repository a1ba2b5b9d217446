import { expect, it } from 'vitest';
import { createSettingsReader } from './settings.ts';

it('the error names the missing variable', () => {
  expect(() => createSettingsReader({}).text('GANTRY_X')).toThrow('GANTRY_X must be set');
});

it('a value that is no number within the limits is refused, and the error names them', () => {
  const read = (value: string) =>
    createSettingsReader({ PORT: value }).integer('PORT', { fallback: 1, min: 0, max: 65_535 });
  expect(read('8080')).toBe(8080);
  for (const value of ['80a', '1.5', '-1', '65536'])
    expect(() => read(value)).toThrow(/PORT must be a whole number from 0 to 65535/);
});

it('a secret is removed from the environment when it is read', () => {
  const env: Record<string, string | undefined> = { KEY: 'secret' };
  expect(createSettingsReader(env).secret('KEY')).toBe('secret');
  expect(env['KEY']).toBeUndefined();
});
