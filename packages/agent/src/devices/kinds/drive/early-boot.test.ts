import { access, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { hideFromEarlyBoot } from './early-boot.ts';

const DRIVES = [
  { address: '0000:21:00.0', serial: 'S2' },
  { address: '0000:22:00.0', serial: 'S1' },
];

let root = '';
let updates: string[] = [];
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'early-boot-'));
  updates = [];
});
afterEach(() => rm(root, { recursive: true }));

const files = () => ({ hooks: join(root, 'hooks'), rules: join(root, 'gantry/drives.rules') });
const run = async (program: string, args: readonly string[]) => {
  updates.push([program, ...args].join(' '));
  return '';
};

it('the drives are in the rules that the initramfs gets, by serial number', async () => {
  await mkdir(files().hooks);
  await hideFromEarlyBoot({ files: files(), run }, DRIVES);
  const rules = await readFile(files().rules, 'utf8');
  expect(rules.match(/ATTRS\{serial\}=="S[12]"/g)).toHaveLength(2);
  expect(await readFile(join(files().hooks, 'gantry-drives'), 'utf8')).toContain(files().rules);
  expect(updates).toEqual(['nice -n 19 update-initramfs -u -k all']);
});

it('an initramfs is written again only if the drives have changed, whatever their order', async () => {
  await mkdir(files().hooks);
  await hideFromEarlyBoot({ files: files(), run }, DRIVES);
  await hideFromEarlyBoot({ files: files(), run }, DRIVES.toReversed());
  expect(updates).toHaveLength(1);
  await hideFromEarlyBoot({ files: files(), run }, DRIVES.slice(1));
  expect(updates).toHaveLength(2);
});

it('an attempt that failed is repeated', async () => {
  await mkdir(files().hooks);
  const fail = () => Promise.reject(new Error('the boot partition is full'));
  await expect(hideFromEarlyBoot({ files: files(), run: fail }, DRIVES)).rejects.toThrow(/full/);
  await hideFromEarlyBoot({ files: files(), run }, DRIVES);
  expect(updates).toHaveLength(1);
});

it('a host without initramfs-tools is left as it is', async () => {
  await hideFromEarlyBoot({ files: files(), run }, DRIVES);
  expect(updates).toEqual([]);
  await expect(access(files().rules)).rejects.toThrow();
});
