import { expect, test } from 'vitest';
import { readSettings } from './settings.ts';

const read = (...args: string[]) => readSettings({ root: '/', args, env: {} });

test('this machine becomes a host only with --real', () => {
  expect(read().real).toBe(false);
  expect(read('--real').real).toBe(true);
});

test.each(['--rael', 'real'])(
  'an unknown argument (%s) is refused, and the message names the known one',
  (argument) => {
    expect(() => read(argument)).toThrow(/npm start -- --real/);
  },
);
