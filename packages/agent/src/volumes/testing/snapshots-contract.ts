import { GIB } from '@gantry/daemon/units';
import { beforeEach, expect, it } from 'vitest';
import { makeDisk } from '../../testing/make-spec.ts';
import type { BlockDriver } from '../volume-driver.ts';

/** A driver that runs the contract tests of snapshots. */
export type ContractSnapshots = {
  volumes: BlockDriver;
  inUse: Set<string>;
  /** Returns the names of everything the driver has on the host. */
  list(): Promise<string[]>;
  /** Absent: what the driver stores has no content, because its programs are recorded only. */
  content?: {
    write(diskId: string, text: string): Promise<void>;
    read(diskId: string): Promise<string>;
  };
};

/** The guarantees that the agent relies on, for every driver whose disks can have snapshots. */
export function describeSnapshotsContract(make: () => Promise<ContractSnapshots>): void {
  let under: ContractSnapshots;
  let volumes: BlockDriver;
  const { signal } = new AbortController();
  const disk = (sizeGib = 1, id = 'd') => makeDisk(id, { sizeBytes: String(sizeGib * GIB) });
  const write = async (id: string, text: string) => await under.content?.write(id, text);
  const expectContent = async (id: string, text: string) => {
    if (under.content) expect(await under.content.read(id)).toBe(text);
  };
  const restore = (sizeGib = 1, snapshotId = 's') =>
    volumes.snapshots.restoreDisk(
      { diskId: 'd', snapshotId, sizeBytes: String(sizeGib * GIB) },
      signal,
    );

  beforeEach(async () => {
    under = await make();
    volumes = under.volumes;
    await volumes.create(disk(), null);
    await write('d', 'first');
  });

  it('a snapshot is listed after it was made, is no disk, and is not made twice', async () => {
    expect(await volumes.snapshots.has('s')).toBe(false);
    await volumes.snapshots.make('s', 'd', signal);
    await write('d', 'later');
    await volumes.snapshots.make('s', 'd', signal);
    expect(await volumes.snapshots.has('s')).toBe(true);
    expect(await volumes.snapshots.list()).toEqual(['s']);
    expect(await volumes.list()).toEqual(['d']);
    expect(await volumes.read('s')).toBeNull();
    await volumes.snapshots.createDisk(disk(1, 'copy'), 's', signal);
    await expectContent('copy', 'first');
  });

  it('a snapshot of a missing disk is not made', async () => {
    const made = volumes.snapshots.make('s', 'other', signal);
    await expect(made).rejects.toMatchObject({ code: 'disk_missing' });
    expect(await volumes.snapshots.list()).toEqual([]);
  });

  it('a snapshot outlives its disk, and a disk from it outlives the snapshot and can be larger', async () => {
    await volumes.snapshots.make('s', 'd', signal);
    await volumes.remove('d');
    await volumes.snapshots.createDisk(disk(2, 'copy'), 's', signal);
    await volumes.snapshots.createDisk(disk(2, 'copy'), 's', signal);
    await volumes.snapshots.remove('s');
    await volumes.snapshots.remove('s');
    expect(await volumes.snapshots.list()).toEqual([]);
    expect(await volumes.read('copy')).toEqual({ id: 'copy', sizeBytes: String(2 * GIB) });
    await expectContent('copy', 'first');
    await volumes.remove('copy');
    expect(await under.list()).toEqual([]);
  });

  it('a disk from a missing snapshot is not created', async () => {
    const created = volumes.snapshots.createDisk(disk(1, 'copy'), 's', signal);
    await expect(created).rejects.toMatchObject({ code: 'snapshot_missing' });
    expect(await volumes.list()).toEqual(['d']);
  });

  it('the content of a missing snapshot is not read', async () => {
    const reading = volumes.snapshots.withContent('s', async () => 'read');
    await expect(reading).rejects.toMatchObject({ code: 'snapshot_missing' });
  });

  it('a disk that is set back keeps its size and its snapshot, and can be set back again', async () => {
    await volumes.snapshots.make('s', 'd', signal);
    await volumes.grow(disk(2));
    for (const text of ['second', 'third']) {
      await write('d', text);
      await restore(2);
      await expectContent('d', 'first');
    }
    expect(await volumes.read('d')).toEqual({ id: 'd', sizeBytes: String(2 * GIB) });
    expect(await volumes.snapshots.list()).toEqual(['s']);
    await volumes.remove('d');
    await volumes.snapshots.remove('s');
    expect(await under.list()).toEqual([]);
  });

  it('a disk stays as it is if it is in use, or its snapshot is missing', async () => {
    await volumes.snapshots.make('s', 'd', signal);
    await write('d', 'later');
    await expect(restore(1, 'other')).rejects.toMatchObject({ code: 'snapshot_missing' });
    under.inUse.add('d');
    await expect(restore()).rejects.toMatchObject({ code: 'disk_in_use' });
    under.inUse.clear();
    await expectContent('d', 'later');
    expect(await volumes.read('d')).toEqual({ id: 'd', sizeBytes: String(GIB) });
  });

  it.each(['', '..', 'a/b', 's.snapshot', 'x'.repeat(65)])(
    'the id %j of a snapshot is refused and changes nothing',
    async (id) => {
      const before = await under.list();
      const refusal = { code: 'bad_snapshot' };
      await expect(volumes.snapshots.make(id, 'd', signal)).rejects.toMatchObject(refusal);
      await expect(volumes.snapshots.remove(id)).rejects.toMatchObject(refusal);
      await expect(volumes.snapshots.has(id)).rejects.toMatchObject(refusal);
      expect(await under.list()).toEqual(before);
    },
  );
}
