import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { chooseImages } from './choose-images.ts';
import { parseImageList, readImageList } from './image-list.ts';
import { readSum } from './read-sums.ts';

const choice = {
  ...{ arch: 'amd64' as const, all: false },
  mirror: undefined,
  name: undefined,
  sha256: undefined,
};

it('every image of the list has a build that does not move, and a reason to trust it', async () => {
  const { images } = await readImageList();
  for (const { name, files, sums, pinned } of images)
    for (const { url } of Object.values(files)) {
      expect(url, name).toMatch(/^https:\/\/.*\d{8}/);
      expect(url, name).not.toMatch(/latest|current/);
      expect((sums === undefined) === (pinned !== undefined), name).toBe(true);
    }
  expect(images.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['debian-12', 'ubuntu-24-04']),
  );
});

it('only images of distributions that sign no checksums lack a signature', async () => {
  const { images } = await readImageList();
  const unsigned = images.filter(({ sums }) => sums === undefined);
  expect(unsigned.map(({ name }) => name)).toEqual(['debian-12', 'debian-13', 'rocky-9']);
});

it('each key of the list has the fingerprint that the list names', async ({ skip }) => {
  const directory = await mkdtemp(path.join(tmpdir(), 'gantry-keys-'));
  try {
    const { keys } = await readImageList();
    for (const { fingerprint, base64 } of Object.values(keys)) {
      const file = path.join(directory, fingerprint);
      await writeFile(file, Buffer.from(base64.join(''), 'base64'));
      const args = ['--homedir', directory, '--show-keys', '--with-colons', file];
      expect(execFileSync('gpg', args, { stdio: 'pipe' }).toString()).toContain(
        `:${fingerprint}:\n`,
      );
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') skip('gpg is not installed');
    throw error;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

it('a list with a mistake is refused with the name of the field', () => {
  const image = { name: 'x', files: { amd64: { url: 'https://example.com/x' } } };
  const parse = (more: object) => () =>
    parseImageList({ date: '2026-01-01', keys: {}, images: [{ ...image, ...more }] });
  expect(parse({})).toThrow(/^images\[0\]\.files\.amd64 must have a sha256 or sha512/);
  expect(parse({ name: 'X' })).toThrow(/^images\[0\]\.name/);
  expect(parse({ files: {} })).toThrow(/^images\[0\]\.files/);
  expect(parse({ sums: { algorithm: 'sha256', key: 'unknown' } })).toThrow(/^images\[0\]\.sums/);
  const signed = { algorithm: 'sha256', file: 'SUMS', signature: 'SUMS.gpg', key: 'one' };
  const key = { owner: 'one', fingerprint: 'A'.repeat(40), base64: [] };
  const parseSigned = (sums: object, file: object) => () =>
    parseImageList({
      ...{ date: '2026-01-01', keys: { one: key } },
      images: [{ name: 'x', sums, files: { amd64: { url: 'https://example.com/x', ...file } } }],
    });
  expect(parseSigned(signed, {})).not.toThrow();
  expect(parseSigned({ ...signed, signature: '' }, {})).toThrow(/^images\[0\]\.sums/);
  expect(parseSigned(signed, { sha512: 'a'.repeat(128) })).toThrow(/^images\[0\]\.files\.amd64/);
  expect(() => parseImageList([])).toThrow(/^date/);
  expect(() => parseImageList(null)).toThrow(/^the list/);
});

it('a sum is found in both forms, and only for the exact file', () => {
  const [one, two] = ['a'.repeat(64), 'b'.repeat(64)];
  const gnu = `${one} *image.img\n${two}  image.img.old\n`;
  const find = (text: string) => readSum(text, { algorithm: 'sha256', file: 'image.img' });
  expect(find(gnu)).toBe(one);
  expect(find(`# image.img: 1 byte\nSHA256 (image.img) = ${one}\n`)).toBe(one);
  expect(find(`SHA512 (image.img) = ${'c'.repeat(128)}\n`)).toBeUndefined();
  expect(find(`${one} *image.img\n${two} *image.img\n`)).toBeUndefined();
  expect(find(`${one.slice(1)} *image.img\n`)).toBeUndefined();
});

it('what to import must be clear', async () => {
  const list = await readImageList();
  const choose = (typed: string[], more: object = {}) =>
    chooseImages(list, typed, { ...choice, ...more });
  expect(choose(['debian-12'])[0]?.url.host).toBe('cloud.debian.org');
  const [mirrored] = choose(['debian-12'], { mirror: 'http://mirror/x/' });
  expect(mirrored?.url.href).toMatch(/^http:\/\/mirror\/x\/cloud\.debian\.org\/images\//);
  expect(() => choose([])).toThrow(/give the names of images, or --all.*debian-12/);
  expect(() => choose(['debian-12'], { all: true })).toThrow(/--all/);
  expect(() => choose(['plan9'])).toThrow(/there is no image plan9/);
  expect(() => choose(['debian-12'], { sha256: 'a'.repeat(64) })).toThrow(/--sha256/);
  expect(() => choose(['debian-12', 'debian-13'], { name: 'x' })).toThrow(/--name/);
  expect(() => choose(['debian-12'], { mirror: 'mirror' })).toThrow(/--mirror/);
  expect(() => choose(['file:///etc/passwd'], { name: 'x' })).toThrow(/no http or https URL/);
  expect(() => choose(['almalinux-9'], { arch: 'arm64' })).toThrow(/--arch/);
  expect(choose([], { all: true, arch: 'arm64' }).map(({ name }) => name)).not.toContain(
    'almalinux-9',
  );
});
