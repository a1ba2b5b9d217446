import { GIB } from '@gantry/daemon/units';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ImageCache } from '../images/image-cache.ts';
import { makeDisk } from '../testing/make-spec.ts';
import { createVolumes } from './create-volumes.ts';
import { lvmDriver } from './lvm-driver.ts';
import { type RecordedLvm, recordLvm } from './testing/recorded-lvm.ts';
import { describeSnapshotsContract } from './testing/snapshots-contract.ts';
import { describeVolumesContract } from './testing/volumes-contract.ts';

const image = {
  name: 'debian-12',
  url: 'https://images.test/debian-12.qcow2',
  sha256: 'ab',
  id: '',
};
const cached = { path: '/images/ab', format: 'qcow2', virtualSizeBytes: GIB / 2 } as const;
const images: ImageCache = {
  fetch: async () => cached,
  use: async (_, work) => await work(cached),
};
const larger = makeDisk('d', { sizeBytes: String(2 * GIB) });

let lvm: RecordedLvm;
const inUse = new Set<string>();

beforeEach(() => {
  lvm = recordLvm();
  inUse.clear();
});

const open = (thinPool: string | null) =>
  lvmDriver({
    ...{ volumeGroup: 'vg', thinPool, images, run: lvm.run, reservePercent: 5 },
    isInUse: async (diskId) => inUse.has(diskId),
  });

describe.each(['pool', null])('logical volumes, thin pool %j', (thinPool) => {
  describeVolumesContract(async () => ({
    volumes: createVolumes({
      ...{ driver: 'lvm', volumeGroup: 'vg', thinPool, images, run: lvm.run },
      ...{ sharedDirectory: '/nonexistent', isInUse: async (diskId) => inUse.has(diskId) },
    }),
    ...{ kind: 'DISK_KIND_PERSISTENT_SSD', inUse },
    list: async () => [...lvm.volumes.keys()],
  }));

  it.each([null, image])(
    'interrupted at any command, one from %j is complete after a repetition',
    async (from) => {
      for (let step = 1; ; step += 1) {
        lvm = recordLvm();
        lvm.dieAtCommand = step;
        const first = await open(thinPool)
          .create(makeDisk('d'), from)
          .then(
            () => 'done',
            () => 'killed',
          );
        expect(await open(thinPool).read('d')).toEqual(
          first === 'done' ? { id: 'd', sizeBytes: String(GIB) } : null,
        );
        lvm.dieAtCommand = null;
        await open(thinPool).create(makeDisk('d'), from);
        expect(await open(thinPool).read('d')).toEqual({ id: 'd', sizeBytes: String(GIB) });
        if (first === 'done') break;
        await open(thinPool).remove('d');
        expect([...lvm.volumes]).toEqual([]);
      }
    },
  );

  it('interrupted at any command, growing shows the old size until a repetition completes it', async () => {
    for (let step = 1; ; step += 1) {
      lvm = recordLvm();
      await open(thinPool).create(makeDisk('d'), null);
      lvm.dieAtCommand = lvm.commands.length + step;
      const first = await open(thinPool)
        .grow(larger)
        .then(
          () => 'done',
          () => 'killed',
        );
      lvm.dieAtCommand = null;
      if (first === 'done') break;
      expect(await open(thinPool).read('d')).toEqual({ id: 'd', sizeBytes: String(GIB) });
      await open(thinPool).grow(larger);
      expect(await open(thinPool).read('d')).toEqual({ id: 'd', sizeBytes: String(2 * GIB) });
      expect([...(lvm.volumes.get('gantry-d')?.tags ?? [])]).toEqual([
        'gantry.disk',
        'gantry.whole',
      ]);
    }
  });
});

const { signal } = new AbortController();
const restore = () =>
  open('pool').snapshots.restoreDisk(
    { diskId: 'd', snapshotId: 's', sizeBytes: String(2 * GIB) },
    signal,
  );

describe('snapshots of thin volumes', () => {
  describe('keep the contract, and', () => {
    describeSnapshotsContract(async () => ({
      volumes: createVolumes({
        ...{ driver: 'lvm', volumeGroup: 'vg', thinPool: 'pool', images, run: lvm.run },
        ...{ sharedDirectory: '/nonexistent', isInUse: async (diskId) => inUse.has(diskId) },
      }),
      inUse,
      list: async () => [...lvm.volumes.keys()],
    }));
  });

  it('are made by one command, also of an open disk, and are not activated', async () => {
    await open('pool').create(makeDisk('d'), null);
    Object.assign(lvm.volumes.get('gantry-d') ?? {}, { isOpen: true });
    const { length } = lvm.commands;
    await open('pool').snapshots.make('s', 'd', signal);
    expect(lvm.commands.slice(length)).toEqual([
      'lvcreate --yes --snapshot --name gantry.snapshot-s --addtag gantry.snapshot vg/gantry-d',
    ]);
  });

  it('are active only while they are read, also if that fails', async () => {
    await open('pool').create(makeDisk('d'), null);
    await open('pool').snapshots.make('s', 'd', signal);
    const { length } = lvm.commands;
    // This machine has no such device.
    const reading = open('pool').snapshots.withContent('s', async () => 'read');
    await expect(reading).rejects.toMatchObject({ code: 'ENOENT' });
    expect(lvm.commands.slice(length)).toEqual([
      'lvchange --activate y --ignoreactivationskip vg/gantry.snapshot-s',
      'lvchange --activate n vg/gantry.snapshot-s',
    ]);
  });

  it('become disks that are complete only when they have their size', async () => {
    await open('pool').create(makeDisk('d'), null);
    await open('pool').snapshots.make('s', 'd', signal);
    const { length } = lvm.commands;
    await open('pool').snapshots.createDisk(
      makeDisk('e', { sizeBytes: String(2 * GIB) }),
      's',
      signal,
    );
    expect(lvm.commands.slice(length)).toEqual([
      'lvcreate --yes --snapshot --setactivationskip n --name gantry-e --addtag gantry.disk vg/gantry.snapshot-s',
      'lvextend --size 2147483648b vg/gantry-e',
      'lvchange --activate y vg/gantry-e',
      'lvchange --addtag gantry.whole vg/gantry-e',
    ]);
  });

  it('interrupted at any command, setting a disk back is completed by a repetition', async () => {
    for (let step = 1; ; step += 1) {
      lvm = recordLvm();
      await open('pool').create(makeDisk('d'), null);
      await open('pool').snapshots.make('s', 'd', signal);
      lvm.dieAtCommand = lvm.commands.length + step;
      const first = await restore().then(
        () => 'done',
        () => 'killed',
      );
      lvm.dieAtCommand = null;
      if (first === 'done') break;
      await restore();
      expect(await open('pool').read('d')).toEqual({ id: 'd', sizeBytes: String(2 * GIB) });
      expect([...lvm.volumes.keys()].sort()).toEqual(['gantry-d', 'gantry.snapshot-s']);
    }
  });

  it('are not made in a pool that is almost full, and not without a pool', async () => {
    await open('pool').create(makeDisk('d'), null);
    const plain = open(null).snapshots.make('s', 'd', signal);
    await expect(plain).rejects.toMatchObject({ code: 'snapshots_unsupported' });
    lvm.poolUse = { data: 96, metadata: 2 };
    const full = open('pool').snapshots.make('s', 'd', signal);
    await expect(full).rejects.toMatchObject({ code: 'storage_full' });
    expect(await open('pool').snapshots.list()).toEqual([]);
  });
});

describe('the commands of', () => {
  it('a thin disk from an image mark it complete only after the copy was synced', async () => {
    await open('pool').create(makeDisk('d'), image);
    expect(lvm.commands).toEqual([
      'lvcreate --yes --virtualsize 1073741824b --thinpool pool --name gantry-d --addtag gantry.disk vg',
      'qemu-img convert -n --target-is-zero -t none -f qcow2 -O host_device /images/ab /dev/vg/gantry-d',
      'sync /dev/vg/gantry-d',
      'lvchange --addtag gantry.whole vg/gantry-d',
    ]);
  });

  it('a plain disk zero it before it is complete, and new space before it is shown', async () => {
    await open(null).create(makeDisk('d'), null);
    await open(null).grow(larger);
    expect(lvm.commands).toEqual([
      'lvcreate --yes --size 1073741824b --wipesignatures n --zero n --name gantry-d --addtag gantry.disk vg',
      'blkdiscard --zeroout --offset 0 /dev/vg/gantry-d',
      'sync /dev/vg/gantry-d',
      'lvchange --addtag gantry.whole vg/gantry-d',
      'lvchange --addtag gantry.zeroed=1073741824 vg/gantry-d',
      'lvextend --size 2147483648b vg/gantry-d',
      'blkdiscard --zeroout --offset 1073741824 /dev/vg/gantry-d',
      'lvchange --deltag gantry.zeroed=1073741824 vg/gantry-d',
    ]);
  });

  it('a removal discard the disk’s content', async () => {
    await open('pool').create(makeDisk('d'), null);
    await open('pool').remove('d');
    expect(lvm.commands.at(-1)).toBe(
      'lvremove --yes --config devices/issue_discards=1 vg/gantry-d',
    );
  });
});

describe('a volume', () => {
  it('is a block device for its guest', async () => {
    await open('pool').create(makeDisk('d'), null);
    const source = { type: 'block', path: '/dev/vg/gantry-d' };
    expect(await open('pool').locate(makeDisk('d'))).toEqual(source);
  });

  it('that a process has open is left alone, whatever the hypervisor knows', async () => {
    await open('pool').create(makeDisk('d'), null);
    Object.assign(lvm.volumes.get('gantry-d') ?? {}, { isOpen: true });
    const refusal = { code: 'disk_in_use' };
    await expect(open('pool').remove('d')).rejects.toMatchObject(refusal);
    await expect(open('pool').grow(larger)).rejects.toMatchObject(refusal);
    expect(lvm.volumes.size).toBe(1);
  });

  it('that a running program still writes to is not created again', async () => {
    lvm.volumes.set('gantry-d', { sizeBytes: GIB, tags: new Set(['gantry.disk']), isOpen: true });
    await expect(open('pool').create(makeDisk('d'), image)).rejects.toThrow();
    expect(await open('pool').read('d')).toBeNull();
    expect(lvm.commands.filter((command) => command.startsWith('qemu-img'))).toEqual([]);
  });

  it('of another program is never touched', async () => {
    lvm.volumes.set('gantry-d', { sizeBytes: GIB, tags: new Set(), isOpen: false });
    const refusal = { code: 'storage_failed' };
    await expect(open('pool').create(makeDisk('d'), null)).rejects.toMatchObject(refusal);
    await expect(open('pool').remove('d')).rejects.toMatchObject(refusal);
    expect(lvm.commands).toEqual([]);
  });

  it('is not created in a pool that would show old content', async () => {
    lvm.poolZeroes = false;
    await expect(open('pool').create(makeDisk('d'), null)).rejects.toMatchObject({
      code: 'storage_failed',
      message: expect.stringContaining('lvchange --zero y'),
    });
    expect(lvm.commands).toEqual([]);
  });

  it.each([
    { data: 96, metadata: 2 },
    { data: 40, metadata: 97 },
  ])('is not created in a pool that is almost full, which still has its disks: %j', async (use) => {
    await open('pool').create(makeDisk('d'), null);
    const { length } = lvm.commands;
    lvm.poolUse = use;
    await open('pool').create(makeDisk('d'), null);
    await expect(open('pool').create(makeDisk('e'), null)).rejects.toMatchObject({
      code: 'storage_full',
      message: expect.stringContaining('too little space in the thin pool vg/pool'),
    });
    expect(lvm.commands).toHaveLength(length);
  });

  it('is not created from an image larger than it', async () => {
    const disk = makeDisk('d', { sizeBytes: String(GIB / 4) });
    await expect(open(null).create(disk, image)).rejects.toMatchObject({ code: 'image_too_large' });
    expect(lvm.commands).toEqual([]);
  });
});
