import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KIB } from '@gantry/daemon/units';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { withSparse } from './read-sparse.ts';

const BLOCK = 256 * KIB;
let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'gantry-sparse-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

/** Makes a sparse file that has these texts at these places. */
async function makeFile(sizeBytes: number, texts: Record<number, string>): Promise<string> {
  const path = join(directory, 'file');
  const file = await open(path, 'w');
  await file.truncate(sizeBytes);
  for (const [offset, text] of Object.entries(texts)) await file.write(text, Number(offset));
  await file.close();
  return path;
}

const read = (path: string, sizeBytes: number) =>
  withSparse({ path, sizeBytes }, async ({ data }) => {
    const blocks: [number, number, string][] = [];
    for await (const { offset, data: bytes } of data)
      blocks.push([offset, bytes.length, bytes.toString('utf8').replaceAll('\0', '')]);
    return blocks;
  });

it('the content is its blocks that are not zeroes, each in its place, also a short last one', async () => {
  const sizeBytes = 4 * BLOCK + 512;
  const path = await makeFile(sizeBytes, { [BLOCK + 7]: 'second', [4 * BLOCK]: 'last' });
  expect(await read(path, sizeBytes)).toEqual([
    [BLOCK, BLOCK, 'second'],
    [4 * BLOCK, 512, 'last'],
  ]);
});

it('a file that is shorter than its size is not taken for zeroes', async () => {
  const path = await makeFile(BLOCK, {});
  await expect(read(path, 2 * BLOCK)).rejects.toThrow('less than');
});
