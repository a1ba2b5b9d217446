import { expect, test } from 'vitest';
import { type CpioEntry, renderCpio } from './cpio.ts';

const ENTRIES: CpioEntry[] = [
  { kind: 'directory', name: 'etc' },
  { kind: 'file', name: 'etc/a', content: Buffer.from('hello') },
  { kind: 'file', name: 'etc/run', content: Buffer.from('#!'), executable: true },
  { kind: 'link', name: 'init', target: 'etc/run' },
];

test('an archive contains its files with their modes, and ends as the kernel expects', () => {
  expect(readCpio(renderCpio(ENTRIES))).toEqual([
    { name: 'etc', mode: 0o040755, body: '' },
    { name: 'etc/a', mode: 0o100644, body: 'hello' },
    { name: 'etc/run', mode: 0o100755, body: '#!' },
    { name: 'init', mode: 0o120777, body: 'etc/run' },
    { name: 'TRAILER!!!', mode: 0, body: '' },
  ]);
});

test('the same files give the same bytes', () => {
  expect(renderCpio(ENTRIES).equals(renderCpio(ENTRIES))).toBe(true);
});

/** The format: a header of 110 bytes, then name and body, each padded to four bytes. */
function readCpio(archive: Buffer): { name: string; mode: number; body: string }[] {
  const entries = [];
  const field = (at: number, index: number) =>
    Number.parseInt(archive.toString('latin1', at + 6 + index * 8, at + 14 + index * 8), 16);
  const padded = (value: number) => Math.ceil(value / 4) * 4;
  for (let at = 0; at < archive.length; ) {
    expect(archive.toString('latin1', at, at + 6)).toBe('070701');
    const [mode, size, nameSize] = [field(at, 1), field(at, 6), field(at, 11)];
    const bodyAt = padded(at + 110 + nameSize);
    entries.push({
      name: archive.toString('utf8', at + 110, at + 109 + nameSize),
      mode,
      body: archive.toString('utf8', bodyAt, bodyAt + size),
    });
    at = padded(bodyAt + size);
  }
  return entries;
}
