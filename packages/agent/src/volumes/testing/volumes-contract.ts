import { GIB } from '@gantry/daemon/units';
import { beforeEach, expect, it } from 'vitest';
import type { DiskSpec } from '../../spec.ts';
import { makeDisk } from '../../testing/make-spec.ts';
import type { VolumeDriver } from '../volume-driver.ts';

/** A driver that runs the contract tests. */
export type ContractVolumes = {
  volumes: VolumeDriver;
  kind: DiskSpec['kind'];
  /** The volume of every disk, if a storage cluster stores them. Absent: the host does. */
  rbd?: DiskSpec['rbd'];
  /** Marks these disks as in use according to the hypervisor. */
  inUse: Set<string>;
  /** Returns the names of everything the driver has on the host. */
  list(): Promise<string[]>;
};

/** The guarantees that the agent relies on, for every driver of disks that the host stores. */
export function describeVolumesContract(make: () => Promise<ContractVolumes>): void {
  describeEveryDriverContract(make);
  let under: ContractVolumes;
  let volumes: VolumeDriver;
  const disk = (spec: Partial<DiskSpec> = {}) => makeDisk('d', { kind: under.kind, ...spec });
  const larger = () => disk({ sizeBytes: String(2 * GIB) });
  const shown = { id: 'd', sizeBytes: String(GIB) };

  beforeEach(async () => {
    under = await make();
    volumes = under.volumes;
  });

  it('a disk is shown and located after its creation, and creating it again changes nothing', async () => {
    expect(await volumes.read('d')).toBeNull();
    await expect(volumes.locate(disk())).rejects.toMatchObject({ code: 'disk_missing' });
    await volumes.create(disk(), null);
    const found = await volumes.locate(disk());
    await volumes.create(larger(), null);
    expect(await volumes.read('d')).toEqual(shown);
    expect(await volumes.locate(disk())).toEqual(found);
  });

  it('all complete disks are listed, and none that is gone', async () => {
    expect(await volumes.list()).toEqual([]);
    await volumes.create(disk(), null);
    await volumes.create(disk({ id: 'd-2' }), null);
    expect((await volumes.list()).sort()).toEqual(['d', 'd-2']);
    await volumes.remove('d');
    expect(await volumes.list()).toEqual(['d-2']);
  });

  it('concurrent creations of one disk create one', async () => {
    await Promise.all(Array.from({ length: 8 }, () => volumes.create(disk(), null)));
    expect(await volumes.read('d')).toEqual(shown);
    expect(await under.list()).toHaveLength(1);
  });

  it('growing a disk is idempotent, and never shrinks it', async () => {
    await volumes.create(disk(), null);
    await volumes.grow(larger());
    await volumes.grow(larger());
    await expect(volumes.grow(disk())).rejects.toMatchObject({ code: 'disk_shrink' });
    expect(await volumes.read('d')).toEqual({ id: 'd', sizeBytes: String(2 * GIB) });
  });

  it('growing a missing disk fails and creates nothing', async () => {
    await expect(volumes.grow(disk())).rejects.toMatchObject({ code: 'disk_missing' });
    await expect(volumes.prepareGrowth(disk())).rejects.toMatchObject({ code: 'disk_missing' });
    expect(await under.list()).toEqual([]);
  });

  it('a disk in use is neither grown nor removed', async () => {
    await volumes.create(disk(), null);
    under.inUse.add('d');
    await expect(volumes.grow(larger())).rejects.toMatchObject({ code: 'disk_in_use' });
    await expect(volumes.remove('d')).rejects.toMatchObject({ code: 'disk_in_use' });
    expect(await volumes.read('d')).toEqual(shown);
    await volumes.grow(disk());
  });

  it('making room for a disk in use is idempotent, and never takes room away', async () => {
    await volumes.create(disk(), null);
    under.inUse.add('d');
    await volumes.prepareGrowth(larger());
    await volumes.prepareGrowth(larger());
    under.inUse.clear();
    await volumes.grow(larger());
    await expect(volumes.prepareGrowth(disk())).rejects.toMatchObject({ code: 'disk_shrink' });
  });

  it('removing a disk leaves nothing, and is idempotent', async () => {
    await volumes.remove('d');
    await volumes.create(disk(), null);
    await volumes.create(disk({ id: 'd-2' }), null);
    await volumes.remove('d');
    await volumes.remove('d');
    expect(await volumes.read('d')).toBeNull();
    expect(await volumes.read('d-2')).not.toBeNull();
    await volumes.remove('d-2');
    expect(await under.list()).toEqual([]);
  });

  it('a disk that is created again after its removal has no old content', async () => {
    await volumes.create(larger(), null);
    await volumes.remove('d');
    await volumes.create(disk(), null);
    expect(await volumes.read('d')).toEqual(shown);
  });
}

/** The guarantees of every volume driver, also of one whose disks are stored elsewhere. */
export function describeEveryDriverContract(make: () => Promise<ContractVolumes>): void {
  let under: ContractVolumes;
  let volumes: VolumeDriver;
  const disk = (spec: Partial<DiskSpec> = {}) =>
    makeDisk('d', { kind: under.kind, rbd: under.rbd ?? null, ...spec });

  beforeEach(async () => {
    under = await make();
    volumes = under.volumes;
  });

  it('a created disk is located, and creating it again changes nothing', async () => {
    await volumes.create(disk(), null);
    const found = await volumes.locate(disk());
    await volumes.create(disk(), null);
    expect(await volumes.locate(disk())).toEqual(found);
  });

  it('a disk in use is neither grown from outside nor removed', async () => {
    await volumes.create(disk(), null);
    under.inUse.add('d');
    const larger = disk({ sizeBytes: String(2 * GIB) });
    await expect(volumes.grow(larger)).rejects.toMatchObject({ code: 'disk_in_use' });
    await expect(volumes.remove('d')).rejects.toMatchObject({ code: 'disk_in_use' });
    await volumes.prepareGrowth(larger);
  });

  it('removing a disk twice is no error, and leaves nothing', async () => {
    await volumes.create(disk(), null);
    await volumes.remove('d');
    await volumes.remove('d');
    expect(await volumes.read('d')).toBeNull();
    expect(await under.list()).toEqual([]);
  });

  it.each(['', '.', '..', '../d', 'a/b', 'd.raw', '-d', 'a b', 'a\0b', 'x'.repeat(65)])(
    'the id %j is refused and changes nothing',
    async (id) => {
      const refusal = { code: 'bad_disk' };
      await expect(volumes.create(disk({ id }), null)).rejects.toMatchObject(refusal);
      await expect(volumes.read(id)).rejects.toMatchObject(refusal);
      await expect(volumes.remove(id)).rejects.toMatchObject(refusal);
      expect(await under.list()).toEqual([]);
    },
  );

  it.each([
    { sizeBytes: '0' },
    { sizeBytes: '1000' },
    { sizeBytes: '9007199254740993' },
    { sizeBytes: 'much' },
    { sizeBytes: String(GIB + 512), blockSize: 4096 },
    { blockSize: 520 },
  ])('a disk of %j is refused and changes nothing', async (spec) => {
    await expect(volumes.create(disk(spec), null)).rejects.toMatchObject({ code: 'bad_disk' });
    expect(await under.list()).toEqual([]);
  });
}
