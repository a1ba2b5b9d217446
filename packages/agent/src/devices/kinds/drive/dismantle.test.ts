import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Sysfs } from '../../../base/sysfs.ts';
import { pciTree, type SysfsTree, writeSysfsTree } from '../../../base/sysfs-tree.ts';
import { dismantle } from './dismantle.ts';

const DRIVE = '0000:21:00.0';
const OTHER = '0000:22:00.0';

let root = '';
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'dismantle-'));
});
afterEach(() => rm(root, { recursive: true }));

function driveTree(address: string, name: string): SysfsTree {
  return {
    ...pciTree(address, { [`nvme/${name}/${name}n1/size`]: '8192' }),
    [`class/block/${name}n1/dev`]: '259:0',
  };
}

/** A device that is built on others. */
function builtOn(members: string[], name: string, own: SysfsTree = {}): SysfsTree {
  const links = members.flatMap((member): [string, string][] => [
    [`class/block/${member}/holders/${name}`, ''],
    [`class/block/${name}/slaves/${member}`, ''],
  ]);
  return { ...Object.fromEntries(links), [`class/block/${name}/dev`]: '9:127', ...own };
}

async function stopped(sys: SysfsTree, assigned: string[]): Promise<string[]> {
  const drives = { ...driveTree(DRIVE, 'nvme0'), ...driveTree(OTHER, 'nvme1') };
  await writeSysfsTree(root, { ...drives, ...sys });
  const commands: string[] = [];
  await dismantle({
    ...{ sysfs: new Sysfs(root), address: DRIVE, assigned },
    run: async (program, args) => {
      commands.push([program, ...args].join(' '));
      return '';
    },
  });
  return commands;
}

it('a RAID of drives that VMs have is stopped, after what is built on it', async () => {
  const volume = { 'class/block/dm-0/dm/name': 'tenant-data', 'class/block/dm-0/dm/uuid': 'LVM-x' };
  const sys = {
    ...builtOn(['nvme0n1', 'nvme1n1'], 'md127'),
    ...builtOn(['md127'], 'dm-0', volume),
  };
  expect(await stopped(sys, [DRIVE, OTHER])).toEqual([
    'dmsetup remove tenant-data',
    'mdadm --stop /dev/md127',
  ]);
});

it('a RAID that has a drive of the host as a member is left alone', async () => {
  expect(await stopped(builtOn(['nvme0n1', 'nvme1n1'], 'md0'), [DRIVE])).toEqual([]);
  expect(await stopped(builtOn(['sda1'], 'md0'), [DRIVE])).toEqual([]);
});

it('a drive on which nothing is built needs no program', async () => {
  expect(await stopped({}, [DRIVE])).toEqual([]);
});
