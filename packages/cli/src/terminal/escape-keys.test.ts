import { expect, it } from 'vitest';
import { escapeKeys } from './escape-keys.ts';

/** Types the chunks one after another. Returns what was sent, and whether the session was left. */
function type(...chunks: string[]) {
  const read = escapeKeys();
  const typed = chunks.map((chunk) => read(Buffer.from(chunk)));
  return {
    sent: typed.map(({ send }) => Buffer.from(send).toString()).join(''),
    left: typed.some(({ leave }) => leave),
  };
}

it.each([
  ['at the beginning', ['~.'], { sent: '', left: true }],
  ['after Enter', ['ls\r~.'], { sent: 'ls\r', left: true }],
  ['in several chunks', ['ls\r', '~', '.'], { sent: 'ls\r', left: true }],
  ['in the middle of a line', ['ls ~.'], { sent: 'ls ~.', left: false }],
  ['after a second tilde', ['\r~~.'], { sent: '\r~.', left: false }],
  ['with another key between', ['\r~a.'], { sent: '\r~a.', left: false }],
  ['with Enter between', ['\r~\r~.'], { sent: '\r~\r', left: true }],
])('~. %s', (_, chunks, expected) => {
  expect(type(...chunks)).toEqual(expected);
});

it('Ctrl-C and bytes that are no text reach the other end', () => {
  const { send } = escapeKeys()(Uint8Array.of(0x03, 0xff, 0x00));
  expect([...send]).toEqual([0x03, 0xff, 0x00]);
});
