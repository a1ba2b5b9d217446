import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { replaceFile, unlessMissing } from './durable-file.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'gantry-durable-'));
});
afterEach(() => rm(directory, { recursive: true }));

it('a replaced file has the new content and mode, and no temporary file remains', async () => {
  const file = join(directory, 'ledger');
  await writeFile(file, 'old', { mode: 0o644 });
  await replaceFile(file, 'new', 0o600);
  expect(await readFile(file, 'utf8')).toBe('new');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readdir(directory)).toEqual(['ledger']);
});

it('a temporary file that a crash left behind does not prevent a replacement', async () => {
  const file = join(directory, 'ledger');
  await writeFile(`${file}.new`, 'half');
  await replaceFile(file, 'whole', 0o600);
  expect(await readFile(file, 'utf8')).toBe('whole');
});

it('a missing file reads as undefined, and other errors are thrown', async () => {
  expect(await unlessMissing(readFile(join(directory, 'none'), 'utf8'))).toBeUndefined();
  await expect(unlessMissing(readFile(directory, 'utf8'))).rejects.toThrow('EISDIR');
});
