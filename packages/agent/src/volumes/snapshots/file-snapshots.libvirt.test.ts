import { execFile } from 'node:child_process';
import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { unlessMissing } from '@gantry/daemon/durable-file';
import { GIB, MIB } from '@gantry/daemon/units';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { imageOf, makeImageBytes } from '../../images/testing/image-server.ts';
import { makeDisk } from '../../testing/make-spec.ts';
import { type FileVolumes, openFileVolumes } from '../testing/file-volumes.ts';
import { openInGuest } from '../testing/open-in-guest.ts';
import { describeSnapshotsContract } from '../testing/snapshots-contract.ts';

const execute = promisify(execFile);
const { signal } = new AbortController();

let host: FileVolumes;
beforeEach(async () => {
  host = await openFileVolumes();
});
afterEach(() => host.remove());

const at = (name: string) => join(host.root, 'disks', name);
const names = async () => ((await unlessMissing(readdir(join(host.root, 'disks')))) ?? []).sort();

/** Writes a line that begins with the text, and reads it back: through QEMU, which knows the formats. */
const writeText = async (diskId: string, text: string) => {
  const format = (await names()).includes(`${diskId}.raw`) ? 'raw' : 'qcow2';
  const source = join(host.root, 'text');
  await writeFile(source, text.padEnd(512, '.'));
  const command = `write -s ${source} 0 512`;
  await execute('qemu-io', ['-f', format, '-c', command, at(`${diskId}.${format}`)]);
};
const readText = async (diskId: string) => {
  const format = (await names()).includes(`${diskId}.raw`) ? 'raw' : 'qcow2';
  const flat = join(host.root, 'flat');
  const from = ['-f', format, at(`${diskId}.${format}`)];
  await execute('qemu-img', [
    'dd',
    '-O',
    'raw',
    'bs=512',
    'count=1',
    ...from.slice(0, 2),
    `if=${from[2]}`,
    `of=${flat}`,
  ]);
  const { stdout } = await execute('head', ['-c', '512', flat]);
  return stdout.replace(/\.+$/, '');
};

describe('snapshots of disks in files', () => {
  it('are read block by block, without what is zeroes', async () => {
    await host.volumes.create(makeDisk('d', { sizeBytes: String(GIB) }), null);
    await writeText('d', 'first');
    await host.volumes.snapshots.make('s', 'd', signal);
    const read = await host.volumes.snapshots.withContent('s', async ({ sizeBytes, data }) => {
      const blocks = [];
      for await (const block of data) blocks.push(block);
      return { sizeBytes, blocks };
    });
    expect(read.sizeBytes).toBe(GIB);
    expect(read.blocks.map(({ offset }) => offset)).toEqual([0]);
    expect(read.blocks[0]?.data.toString('utf8', 0, 6)).toBe('first.');
  });

  describe('keep the contract, and', () => {
    describeSnapshotsContract(async () => ({
      ...{ volumes: host.volumes, inUse: host.inUse, list: names },
      content: { write: writeText, read: readText },
    }));
  });

  it('are sparse, readable by their owner only, and have one name', async () => {
    await host.volumes.create(makeDisk('d', { sizeBytes: String(100 * GIB) }), null);
    await writeText('d', 'text');
    await host.volumes.snapshots.make('s', 'd', signal);
    const { blocks, mode, size } = await stat(at('s.snapshot.raw'));
    expect({ size, mode: mode & 0o777 }).toEqual({ size: 100 * GIB, mode: 0o600 });
    expect(blocks * 512).toBeLessThanOrEqual(MIB);
    expect(await names()).toEqual(['d.raw', 's.snapshot.raw']);
  });

  it('of a disk over an image have the content of both and depend on neither', async () => {
    const bytes = makeImageBytes(1);
    const file = join(host.root, 'source');
    await writeFile(file, bytes);
    const disk = makeDisk('os', { sizeBytes: String(4 * MIB) });
    await host.volumes.create(disk, imageOf(bytes, pathToFileURL(file).href));
    await writeText('os', 'of the guest');
    await host.volumes.snapshots.make('s', 'os', signal);
    const args = ['compare', '-f', 'qcow2', '-F', 'raw', at('os.qcow2'), at('s.snapshot.raw')];
    expect((await execute('qemu-img', args)).stdout).toContain('identical');
    await writeText('os', 'later');
    const restored = { diskId: 'os', snapshotId: 's', sizeBytes: disk.sizeBytes };
    await host.volumes.snapshots.restoreDisk(restored, signal);
    expect(await readText('os')).toBe('of the guest');
    expect(await names()).toEqual(['os.raw', 's.snapshot.raw']);
    expect(await host.volumes.locate(disk)).toMatchObject({ format: 'raw', backing: null });
  });

  it('are not made from outside while a guest writes, and leave nothing then', async () => {
    const disk = makeDisk('d', { sizeBytes: String(MIB) });
    await host.volumes.create(disk, null);
    const guest = await openInGuest(await host.volumes.locate(disk), { readOnly: false });
    try {
      const made = host.volumes.snapshots.make('s', 'd', signal);
      await expect(made).rejects.toMatchObject({ code: 'disk_in_use' });
      expect(await names()).toEqual(['d.raw']);
    } finally {
      await guest.close();
    }
    await host.volumes.snapshots.make('s', 'd', signal);
  });

  it('are made while guests only read', async () => {
    const disk = makeDisk('d', { sizeBytes: String(MIB) });
    await host.volumes.create(disk, null);
    const guest = await openInGuest(await host.volumes.locate(disk), { readOnly: true });
    try {
      await host.volumes.snapshots.make('s', 'd', signal);
      expect(await host.volumes.snapshots.has('s')).toBe(true);
    } finally {
      await guest.close();
    }
  });

  it('leave nothing if the work is aborted', async () => {
    await host.volumes.create(makeDisk('d', { sizeBytes: String(MIB) }), null);
    const aborted = AbortSignal.abort();
    await expect(host.volumes.snapshots.make('s', 'd', aborted)).rejects.toThrow();
    expect(await names()).toEqual(['d.raw']);
  });

  it('that the hypervisor copies exist only after the copy is complete, and are sparse', async () => {
    await host.volumes.create(makeDisk('d', { sizeBytes: String(100 * GIB) }), null);
    const { snapshots } = host.volumes;
    await snapshots.prepareCopy('s', 'd');
    expect(await snapshots.has('s')).toBe(false);
    await snapshots.discardCopy('s');
    expect(await names()).toEqual(['d.raw']);
    const { path, format } = await snapshots.prepareCopy('s', 'd');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    await execute('qemu-io', ['-f', format, '-c', 'write -P 7 1M 1M', path]);
    await snapshots.finishCopy('s', signal);
    const { blocks, size } = await stat(at('s.snapshot.raw'));
    expect(size).toBe(100 * GIB);
    expect(blocks * 512).toBeLessThanOrEqual(2 * MIB);
    expect(await names()).toEqual(['d.raw', 's.snapshot.raw']);
  });

  it('that the hypervisor copies leave nothing if the work is aborted', async () => {
    await host.volumes.create(makeDisk('d', { sizeBytes: String(MIB) }), null);
    await host.volumes.snapshots.prepareCopy('s', 'd');
    const finished = host.volumes.snapshots.finishCopy('s', AbortSignal.abort());
    await expect(finished).rejects.toThrow();
    expect(await names()).toEqual(['d.raw']);
  });
});
