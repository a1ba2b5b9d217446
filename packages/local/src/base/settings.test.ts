import { expect, test } from 'vitest';
import { readSettings } from './settings.ts';

const read = (...args: string[]) => readSettings({ root: '/', args, env: {} });

test('this machine is a host only if asked for', () => {
  expect(read().real).toBe(false);
  expect(read('--real').real).toBe(true);
});

test.each(['--rael', 'real'])(
  'an argument there is not (%s) is refused, and the one there is named',
  (argument) => {
    expect(() => read(argument)).toThrow(/npm start -- --real/);
  },
);
