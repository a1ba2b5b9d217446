import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Sysfs } from '../../../base/sysfs.ts';
import { pciTree, type SysfsTree, writeSysfsTree } from '../../../base/sysfs-tree.ts';
import { readDriveUses } from './drive-uses.ts';

const DRIVE = '0000:21:00.0';
const OTHER = '0000:22:00.0';

let root = '';
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'drive-uses-'));
});
afterEach(() => rm(root, { recursive: true }));

/** A drive with two partitions, one on each of which tests build, and another drive that is in use. */
const DRIVES: SysfsTree = {
  ...pciTree(DRIVE, { 'nvme/nvme0/nvme0n1/size': '8192', 'nvme/nvme0/serial': 'A' }),
  ...blockTree('nvme0n1', '259:0'),
  'class/block/nvme0n1/nvme0n1p1/partition': '1',
  'class/block/nvme0n1/nvme0n1p2/partition': '2',
  ...partitionTree('nvme0n1p1', '259:1'),
  ...partitionTree('nvme0n1p2', '259:2'),
  ...pciTree(OTHER, { 'nvme/nvme1/nvme1n1/size': '8192' }),
  ...blockTree('nvme1n1', '259:9'),
};

function blockTree(name: string, majorMinor: string): SysfsTree {
  return { [`class/block/${name}/dev`]: majorMinor, [`class/block/${name}/size`]: '2048' };
}

function partitionTree(name: string, majorMinor: string): SysfsTree {
  return { ...blockTree(name, majorMinor), [`class/block/${name}/partition`]: '1' };
}

function held(name: string, holder: string, majorMinor: string): SysfsTree {
  return { [`class/block/${name}/holders/${holder}`]: '', ...blockTree(holder, majorMinor) };
}

const NONE = 'Filename Type Size Used Priority';
const mounted = (majorMinor: string, point: string, source = 'none') =>
  `36 35 ${majorMinor} / ${point} rw,noatime shared:1 - ext4 ${source} rw`;

type Host = { sys?: SysfsTree; mounts?: string[]; swaps?: string[]; devRoot?: string };

async function usesOf({ sys = {}, mounts = [], swaps = [], devRoot }: Host, address = DRIVE) {
  await writeSysfsTree(join(root, 'sys'), { ...DRIVES, ...sys });
  await writeSysfsTree(join(root, 'proc'), {
    'self/mountinfo': [mounted('8:1', '/other'), ...mounts].join('\n'),
    swaps: [NONE, ...swaps.map((path) => `${path}  partition 1 0 -2`)].join('\n'),
  });
  const options = { sysfs: new Sysfs(join(root, 'sys')), procRoot: join(root, 'proc') };
  return readDriveUses({ ...options, ...(devRoot !== undefined && { devRoot }) }, address);
}

it('an unused drive has no uses, and neither has a drive without a kernel driver', async () => {
  expect(await usesOf({})).toEqual([]);
  expect(await readDriveUses({ sysfs: new Sysfs(root), procRoot: root }, DRIVE)).toEqual([]);
});

it('a drive is in use by what is on itself, not on another', async () => {
  const mounts = [mounted('259:9', '/data')];
  expect(await usesOf({ mounts })).toEqual([]);
  await rm(root, { recursive: true });
  expect(await usesOf({ mounts }, OTHER)).toEqual(['mounted at /data']);
});

describe('a mounted file system is named by where it is', () => {
  it.each([
    ['on the whole drive', ['259:0', '/data'], 'mounted at /data'],
    ['on a partition', ['259:2', '/srv/my\\040data'], 'mounted at /srv/my data'],
    ['that is the root', ['259:2', '/'], 'the boot disk: mounted at /'],
    ['that holds the firmware', ['259:1', '/boot/efi'], 'the boot disk: mounted at /boot/efi'],
    ['of several devices', ['0:51', '/pool', '/dev/nvme0n1p2'], 'mounted at /pool'],
  ] as const)('%s', async (_, [majorMinor, point, source], use) => {
    expect(await usesOf({ mounts: [mounted(majorMinor, point, source)] })).toEqual([use]);
  });

  it('with every place it is bound to, and those needed to boot first', async () => {
    const mounts = ['/home', '/', '/var/lib', '/home'].map((point) => mounted('259:2', point));
    expect(await usesOf({ mounts })).toEqual([
      'the boot disk: mounted at /',
      'mounted at /home',
      'mounted at /var/lib',
    ]);
  });

  it('also where only the host sees it and the agent does not', async () => {
    await writeSysfsTree(join(root, 'proc'), { '1/mountinfo': mounted('259:1', '/data') });
    expect(await usesOf({})).toEqual(['mounted at /data']);
  });
});

it('swap counts, on the drive and on what is built on it', async () => {
  const sys = {
    ...held('nvme0n1p2', 'dm-1', '253:1'),
    'class/block/dm-1/dm/name': 'vg-swap',
    'class/block/dm-1/dm/uuid': 'LVM-abc',
  };
  expect(await usesOf({ sys, swaps: ['/dev/nvme0n1p1', '/dev/dm-1', '/swapfile'] })).toEqual([
    'swap on nvme0n1p1',
    'swap on dm-1',
    'in the LVM volume vg-swap (dm-1)',
  ]);
});

describe('what is built on a drive counts, mounted or not', () => {
  it.each([
    ['md127', {}, 'in the RAID md127'],
    ['bcache0', {}, 'in the cache bcache0'],
    ['dm-3', { name: 'vg-data', uuid: 'LVM-x' }, 'in the LVM volume vg-data (dm-3)'],
    ['dm-4', { name: 'safe', uuid: 'CRYPT-LUKS2-x' }, 'in the encrypted volume safe (dm-4)'],
    ['dm-5', { name: 'mpatha', uuid: 'mpath-x' }, 'in the mapped device mpatha (dm-5)'],
    ['drbd1', {}, 'held by drbd1'],
  ] as const)('%s', async (holder, mapper, use) => {
    const names = Object.entries(mapper).map(([key, value]) => [
      `class/block/${holder}/dm/${key}`,
      value,
    ]);
    const sys = { ...held('nvme0n1p1', holder, '253:3'), ...Object.fromEntries(names) };
    expect(await usesOf({ sys })).toEqual([use]);
  });
});

it('a chain is followed to its end: partition, RAID with partitions, volume, mount', async () => {
  const sys = {
    ...held('nvme0n1p2', 'md0', '9:0'),
    'class/block/md0/md0p1/partition': '1',
    ...partitionTree('md0p1', '259:30'),
    ...held('md0p1', 'dm-0', '253:0'),
    'class/block/dm-0/dm/name': 'vg-root',
    'class/block/dm-0/dm/uuid': 'LVM-x',
    // A ring must not keep it from ending.
    'class/block/dm-0/holders/md0': '',
  };
  expect(await usesOf({ sys, mounts: [mounted('253:0', '/')] })).toEqual([
    'the boot disk: mounted at /',
    'in the RAID md0',
    'in the LVM volume vg-root (dm-0)',
  ]);
});

it('a file system of several devices counts whose source is named by device mapper', async () => {
  const sys = {
    ...held('nvme0n1p2', 'dm-2', '253:2'),
    'class/block/dm-2/dm/name': 'vg-pool',
    'class/block/dm-2/dm/uuid': 'LVM-x',
  };
  expect(await usesOf({ sys, mounts: [mounted('0:51', '/pool', '/dev/mapper/vg-pool')] })).toEqual([
    'mounted at /pool',
    'in the LVM volume vg-pool (dm-2)',
  ]);
});

it('a member of a btrfs file system counts that is mounted by another member', async () => {
  const sys = { 'fs/btrfs/1111-2222/devices/nvme0n1p2': '', 'fs/btrfs/features/raid56': '1' };
  expect(await usesOf({ sys, mounts: [mounted('0:51', '/pool', '/dev/sda')] })).toEqual([
    'part of the btrfs file system 1111-2222',
  ]);
});

it('a namespace with several paths is known by its head', async () => {
  const address = '0000:23:00.0';
  const sys = {
    ...pciTree(address, { 'nvme/nvme5/nvme4c5n1/size': '8192' }),
    ...blockTree('nvme4n1', '259:40'),
    'class/block/nvme4n1/nvme4n1p1/partition': '1',
    ...partitionTree('nvme4n1p1', '259:41'),
  };
  expect(await usesOf({ sys, mounts: [mounted('259:41', '/data')] }, address)).toEqual([
    'mounted at /data',
  ]);
});

it('nothing is taken for free where the mounts cannot be read', async () => {
  await writeSysfsTree(join(root, 'sys'), DRIVES);
  const options = { sysfs: new Sysfs(join(root, 'sys')), procRoot: join(root, 'no-proc') };
  await expect(readDriveUses(options, DRIVE)).rejects.toThrow('no drive is known to be free');
});

describe('the content of an unused drive counts as a use', () => {
  const SIZE = 2_048 * 512;
  const at = (offset: number, bytes: Uint8Array) => {
    const content = Buffer.alloc(SIZE);
    content.set(bytes, offset);
    return content;
  };
  const MD = Buffer.from([0xfc, 0x4e, 0x2b, 0xa9]);

  async function saysOf(content: Buffer): Promise<string[]> {
    const devRoot = join(root, 'dev');
    await mkdir(devRoot, { recursive: true });
    await writeFile(join(devRoot, 'nvme0n1'), Buffer.alloc(SIZE));
    await writeFile(join(devRoot, 'nvme0n1p1'), content);
    await writeFile(join(devRoot, 'nvme0n1p2'), Buffer.alloc(0));
    return usesOf({ devRoot });
  }

  it.each([
    ['LVM', 512, Buffer.from('LABELONE'), ['an LVM physical volume (nvme0n1p1)']],
    ['MD 1.1', 0, MD, ['a member of an MD RAID (nvme0n1p1)']],
    ['MD 1.2', 4_096, MD, ['a member of an MD RAID (nvme0n1p1)']],
    ['MD 1.0', SIZE - 8_192, MD, ['a member of an MD RAID (nvme0n1p1)']],
    ['MD 0.90', SIZE - 65_536, MD, ['a member of an MD RAID (nvme0n1p1)']],
    ['btrfs', 65_600, Buffer.from('_BHRfS_M'), ['part of a btrfs file system (nvme0n1p1)']],
    ['ext4', 1_080, Buffer.from([0x53, 0xef]), ['an ext file system (nvme0n1p1)']],
    ['GPT', 512, Buffer.from('EFI PART'), ['a partition table (nvme0n1p1)']],
    [
      'ZFS',
      131_072 + 5 * 1_024,
      Buffer.from([0x0c, 0xb1, 0xba, 0, 0, 0, 0, 0]),
      ['part of a ZFS pool (nvme0n1p1)'],
    ],
    ['nothing', 0, Buffer.alloc(16), []],
    ['LVM in a file of a file system', 8_192, Buffer.from('LABELONE'), []],
  ] as const)('%s', async (_, offset, bytes, uses) => {
    expect(await saysOf(at(offset, bytes))).toEqual(uses);
  });

  it('and one that cannot be read is not free', async () => {
    expect(await usesOf({ devRoot: join(root, 'no-dev') })).toContain(
      'not readable: ENOENT (nvme0n1)',
    );
  });
});
