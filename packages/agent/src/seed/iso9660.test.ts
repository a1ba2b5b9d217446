import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type IsoFile, renderIso9660 } from './iso9660.ts';
import { readIso9660 } from './testing/read-iso9660.ts';

/** Any length of bytes that look random and are the same in every run. */
function bytes(length: number, seed: string): Buffer {
  const blocks = Array.from({ length: Math.ceil(length / 32) }, (_, index) =>
    createHash('sha256').update(`${seed} ${index}`).digest(),
  );
  return Buffer.concat(blocks, length);
}

const AROUND_SECTORS = [0, 1, 2047, 2048, 2049, 4095, 4096, 4097];

/** Digests in place of contents: comparing large buffers value by value takes minutes. */
const named = (files: readonly IsoFile[]) =>
  files
    .map(({ name, content }) => `${name} ${createHash('sha256').update(content).digest('hex')}`)
    .toSorted();

function expectReadsBack(files: readonly IsoFile[]): void {
  const image = renderIso9660({ label: 'cidata', files });
  const read = readIso9660(image);
  for (const tree of [read.primary, read.joliet]) {
    expect(tree.label).toBe('cidata');
    expect(named(tree.files)).toEqual(named(files));
  }
  expect(image.length).toBe(read.sectors * 2048);
}

describe('an ISO 9660 image', () => {
  it('returns every file with its exact name and bytes, by Rock Ridge and by Joliet', () => {
    for (const first of AROUND_SECTORS) {
      for (const second of AROUND_SECTORS) {
        expectReadsBack([
          { name: 'user-data', content: bytes(first, 'a') },
          { name: 'meta-data', content: bytes(second, 'b') },
          { name: 'network-config', content: bytes(first + second, 'c') },
        ]);
      }
    }
    expectReadsBack([{ name: 'gantry-startup', content: bytes(65_536, 'd') }]);
  });

  it('holds any number of files, whose records then fill several sectors', () => {
    for (const count of [0, 1, 15, 16, 17, 18, 19, 20, 40, 200]) {
      expectReadsBack(
        Array.from({ length: count }, (_, index) => ({
          name: `${'n'.repeat(index % 20)}ame-${index}.txt`.slice(0, 29),
          content: bytes((index * 977) % 5000, String(index)),
        })),
      );
    }
  });

  it('has its label at byte 32808, where guests without blkid look for it', () => {
    const image = renderIso9660({ label: 'cidata', files: [] });
    expect(image.toString('latin1', 32_808, 32_814)).toBe('cidata');
  });

  it('has the same bytes for the same files', () => {
    const make = () =>
      renderIso9660({ label: 'cidata', files: [{ name: 'user-data', content: bytes(3000, 'a') }] });
    expect(make().equals(make())).toBe(true);
  });

  it.each([
    ['a folder', ['a/b']],
    ['a parent', ['..']],
    ['an empty name', ['']],
    ['a name too long', ['n'.repeat(30)]],
    ['names that differ in case alone', ['user-data', 'User_data']],
  ])('is not written with %s', (_what, names) => {
    const files = names.map((name) => ({ name, content: Buffer.of(1) }));
    expect(() => renderIso9660({ label: 'cidata', files })).toThrow('BUG');
  });

  it('is not written with a label that Joliet cannot hold', () => {
    expect(() => renderIso9660({ label: 'l'.repeat(17), files: [] })).toThrow('BUG');
  });
});
