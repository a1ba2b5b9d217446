import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Sysfs } from './sysfs.ts';
import { writeSysfsTree } from './sysfs-tree.ts';

let root = '';
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'sysfs-'));
});
afterEach(() => rm(root, { recursive: true }));

it('names are sorted by the numbers in them', async () => {
  await writeSysfsTree(root, { 'a/node10': '', 'a/node9': '', 'a/node1': '' });
  expect(await new Sysfs(root).list('a')).toEqual(['node1', 'node9', 'node10']);
});

it('bytes are the first ones, fewer if the file is shorter, none if there is no file', async () => {
  await writeSysfsTree(root, { config: Buffer.from([1, 2, 3]) });
  const sysfs = new Sysfs(root);
  expect([...((await sysfs.bytes('config', 2)) ?? [])]).toEqual([1, 2]);
  expect([...((await sysfs.bytes('config', 64)) ?? [])]).toEqual([1, 2, 3]);
  expect(await sysfs.bytes('missing', 4)).toBeUndefined();
});

it('a file and a directory exist, and nothing below a file does', async () => {
  await writeSysfsTree(root, { 'a/b': '' });
  const sysfs = new Sysfs(root);
  const found = await Promise.all(['a', 'a/b', 'a/c', 'a/b/c'].map((path) => sysfs.exists(path)));
  expect(found).toEqual([true, true, false, false]);
});
