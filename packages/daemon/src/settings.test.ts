import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSettingsReader, findExposedSecrets } from './settings.ts';

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

describe('a secret in a file', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'secrets-'));
    writeFileSync(path.join(folder, 'KEY'), 'one line\nanother line\n');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is read from the file that a variable names, without the last line break', () => {
    const env = { KEY_FILE: path.join(folder, 'KEY'), KEY: 'from the environment' };
    expect(createSettingsReader(env).secret('KEY')).toBe('one line\nanother line');
    expect(env.KEY).toBeUndefined();
  });

  it('is read from the credentials that systemd passes', () => {
    const reader = createSettingsReader({ CREDENTIALS_DIRECTORY: folder, OTHER: 'x' });
    expect(reader.secret('KEY')).toBe('one line\nanother line');
    expect(reader.secret('OTHER')).toBe('x');
    expect(reader.optionalSecret('MISSING')).toBeUndefined();
  });

  it('that is missing or empty is an error that names the setting', () => {
    const read = (file: string) => () =>
      createSettingsReader({ KEY_FILE: path.join(folder, file) }).secret('KEY');
    expect(read('none')).toThrow(/^KEY_FILE cannot be read/);
    writeFileSync(path.join(folder, 'empty'), '\n');
    expect(read('empty')).toThrow(/^KEY_FILE is empty/);
  });
});

it('secrets in the environment of a service are found, and those in files are not', () => {
  const env = { KEY: 'x', OTHER_FILE: '/secret', INVOCATION_ID: '1' };
  expect(findExposedSecrets(['KEY', 'OTHER'], env)).toEqual(['KEY']);
  expect(findExposedSecrets(['KEY'], { KEY: 'x', NODE_ENV: 'production' })).toEqual(['KEY']);
  expect(findExposedSecrets(['KEY'], { KEY: 'x' })).toEqual([]);
});

it('a secret is removed from the environment when it is read', () => {
  const env: Record<string, string | undefined> = { KEY: 'secret' };
  expect(createSettingsReader(env).secret('KEY')).toBe('secret');
  expect(env['KEY']).toBeUndefined();
});
