import { expect, it } from 'vitest';
import { printableLines } from './printable.ts';

it('lines of a guest keep their text and lose what would change the terminal', () => {
  const text =
    '\u001b[1;32mok\u001b[0m boot\r\n\u001b]0;title\u0007next\tline\u001b(B\u0008\u009b2J\n';
  expect(printableLines(text)).toBe('ok boot\nnext\tline2J\n');
});
