import { expect, it } from 'vitest';
import { plainText } from './plain-text.ts';

it.each([
  ['colours', '\u001b[1;32mok\u001b[0m', 'ok'],
  ['a title that ends with a bell', '\u001b]0;evil\u0007login:', 'login:'],
  ['a title that ends with a string terminator', '\u001b]0;evil\u001b\\login:', 'login:'],
  ['a choice of character set', '\u001b(Bboot', 'boot'],
  ['carriage returns', 'one\r\ntwo\r', 'one\ntwo'],
  ['bells and backspaces', 'a\u0007b\u0008c', 'abc'],
])('%s are left out', (_, printed, expected) => {
  expect(plainText(printed)).toBe(expected);
});
