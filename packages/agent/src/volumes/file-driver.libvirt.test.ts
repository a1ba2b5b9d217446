import { execFile } from 'node:child_process';
import { readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { unlessMissing } from '@gantry/daemon/durable-file';
import { GIB, MIB } from '@gantry/daemon/units';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { imageFile, imageOfFile } from '../images/image-file.ts';
import { imageOf, makeImageBytes } from '../images/testing/image-server.ts';
import type { Image } from '../spec.ts';
import { makeDisk } from '../testing/make-spec.ts';
import { type FileVolumes, openFileVolumes } from './testing/file-volumes.ts';
import { openInGuest } from './testing/open-in-guest.ts';
import { describeVolumesContract } from './testing/volumes-contract.ts';

const execute = promisify(execFile);

let host: FileVolumes;

beforeEach(async () => {
  host = await openFileVolumes({ limitBytes: 1 });
});
afterEach(() => host.remove());

const at = (name: string) => join(host.root, 'disks', name);
const makeImage = async (seed: number): Promise<Image> => {
  const bytes = makeImageBytes(seed);
  const file = join(host.root, `source-${seed}`);
  await writeFile(file, bytes);
  return imageOf(bytes, pathToFileURL(file).href);
};
const info = async (path: string) =>
  JSON.parse((await execute('qemu-img', ['info', '-U', '--output=json', path])).stdout);
const qemuIo = (path: string, command: string) =>
  execute('qemu-io', ['-f', 'qcow2', '-c', command, path]);
/** The content of the whole disk, as a guest reads it, in one file. */
const readDisk = async (path: string) => {
  const flat = join(host.root, 'flat');
  await execute('qemu-img', ['convert', '-f', 'qcow2', '-O', 'raw', path, flat]);
  return await readFile(flat);
};

describe('disks in files', () => {
  describeVolumesContract(async () => ({
    ...{ volumes: host.volumes, inUse: host.inUse, kind: 'DISK_KIND_PERSISTENT_SSD' },
    list: async () => (await unlessMissing(readdir(join(host.root, 'disks')))) ?? [],
  }));

  it('take no space before they are written, and are readable by their owner only', async () => {
    await host.volumes.create(makeDisk('d', { sizeBytes: String(100 * GIB) }), null);
    const { blocks, mode, size } = await stat(at('d.raw'));
    expect({ blocks, size, mode: mode & 0o777 }).toEqual({
      blocks: 0,
      size: 100 * GIB,
      mode: 0o600,
    });
    expect((await stat(join(host.root, 'disks'))).mode & 0o777).toBe(0o711);
  });

  it('name the whole chain of files that a guest reads', async () => {
    const image = await makeImage(1);
    const disk = makeDisk('os', { sizeBytes: String(MIB) });
    await host.volumes.create(disk, image);
    const path = imageFile(join(host.root, 'images'), image.sha256);
    const source = { type: 'file', path: at('os.qcow2'), format: 'qcow2' };
    expect(await host.volumes.locate(disk)).toEqual({
      ...source,
      backing: { path, format: 'raw' },
    });
    await rm(path);
    await expect(host.volumes.locate(disk)).rejects.toMatchObject({ code: 'disk_damaged' });
    const empty = makeDisk('empty', { sizeBytes: String(MIB) });
    await host.volumes.create(empty, null);
    expect(await host.volumes.locate(empty)).toMatchObject({ format: 'raw', backing: null });
  });

  it.each([MIB, 512 * MIB, 512 * MIB + 512, 128 * GIB, 10 * 1024 * GIB])(
    'from an image, of %d bytes, equal what QEMU creates',
    async (sizeBytes) => {
      const image = await makeImage(1);
      await host.volumes.create(makeDisk('os', { sizeBytes: String(sizeBytes) }), image);
      expect(await info(at('os.qcow2'))).toMatchObject({
        'virtual-size': sizeBytes,
        'backing-filename': imageFile(join(host.root, 'images'), image.sha256),
        'backing-filename-format': 'raw',
      });
      await execute('qemu-img', ['check', at('os.qcow2')]);
      await qemuIo(at('os.qcow2'), `write -P 0x42 ${sizeBytes - 512} 512`);
      await execute('qemu-img', ['check', at('os.qcow2')]);
      await qemuIo(at('os.qcow2'), `read -P 0x42 ${sizeBytes - 512} 512`);
      expect((await stat(at('os.qcow2'))).mode & 0o777).toBe(0o600);
    },
  );

  it('from a qcow2 image start with its content', async () => {
    const [raw, packed] = [join(host.root, 'raw'), join(host.root, 'packed')];
    await writeFile(raw, makeImageBytes(1));
    await execute('qemu-img', ['convert', '-c', '-f', 'raw', '-O', 'qcow2', raw, packed]);
    const image = imageOf(await readFile(packed), pathToFileURL(packed).href);
    await host.volumes.create(makeDisk('os', { sizeBytes: String(2 * MIB) }), image);
    expect(await info(at('os.qcow2'))).toMatchObject({ 'backing-filename-format': 'qcow2' });
    const found = await readDisk(at('os.qcow2'));
    expect(found.subarray(0, MIB).equals(makeImageBytes(1))).toBe(true);
    expect(found.subarray(MIB).equals(Buffer.alloc(MIB))).toBe(true);
  });

  it('from a qcow2 image over a file of the host are refused, and nothing is left', async () => {
    const bad = join(host.root, 'bad');
    await execute('qemu-img', ['create', '-f', 'qcow2', '-b', '/etc/shadow', '-F', 'raw', bad]);
    const image = imageOf(await readFile(bad), pathToFileURL(bad).href);
    await expect(host.volumes.create(makeDisk('os'), image)).rejects.toMatchObject({
      code: 'image_unavailable',
      message: expect.stringContaining('backing file'),
    });
    expect(await host.list()).toEqual(['bad']);
  });

  it('over one image do not see each other’s writes, and the image does not change', async () => {
    const image = await makeImage(1);
    const sizeBytes = String(2 * MIB);
    for (const id of ['a', 'b']) await host.volumes.create(makeDisk(id, { sizeBytes }), image);
    await qemuIo(at('a.qcow2'), 'write -P 0x41 0 128k');
    await qemuIo(at('b.qcow2'), 'write -P 0x42 64k 128k');
    const [a, b] = [await readDisk(at('a.qcow2')), await readDisk(at('b.qcow2'))];
    const original = makeImageBytes(1);
    expect(a.subarray(0, 131_072).equals(Buffer.alloc(131_072, 0x41))).toBe(true);
    expect(a.subarray(131_072, MIB).equals(original.subarray(131_072))).toBe(true);
    expect(b.subarray(0, 65_536).equals(original.subarray(0, 65_536))).toBe(true);
    expect(b.subarray(65_536, 196_608).equals(Buffer.alloc(131_072, 0x42))).toBe(true);
    const { path } = await host.images.fetch(image);
    expect((await readFile(path)).equals(original)).toBe(true);
  });

  it('survive the eviction of images, which evicts theirs only after them', async () => {
    const [used, other] = [await makeImage(1), await makeImage(2)];
    await host.volumes.create(makeDisk('os', { sizeBytes: String(2 * MIB) }), used);
    await host.images.fetch(other);
    await host.images.fetch(await makeImage(3));
    const cached = async () => (await readdir(join(host.root, 'images'))).map(imageOfFile);
    const names = await cached();
    expect(names).toContain(used.sha256);
    expect(names).not.toContain(other.sha256);
    expect((await readDisk(at('os.qcow2'))).subarray(0, MIB).equals(makeImageBytes(1))).toBe(true);
    await host.volumes.remove('os');
    await host.images.fetch(other);
    expect(await cached()).not.toContain(used.sha256);
  });

  it('are not created from an image larger than they are', async () => {
    const image = await makeImage(1);
    const disk = makeDisk('os', { sizeBytes: String(MIB / 2) });
    await expect(host.volumes.create(disk, image)).rejects.toMatchObject({
      code: 'image_too_large',
    });
    expect(await readdir(join(host.root, 'disks'))).toEqual([]);
  });

  it('from an image grow and keep their content', async () => {
    const disk = makeDisk('os');
    await host.volumes.create(disk, await makeImage(1));
    await qemuIo(at('os.qcow2'), 'write -P 0x41 0 64k');
    await host.volumes.grow({ ...disk, sizeBytes: String(1024 * GIB) });
    expect(await host.volumes.read('os')).toEqual({ id: 'os', sizeBytes: String(1024 * GIB) });
    await qemuIo(at('os.qcow2'), 'read -P 0x41 0 64k');
    await execute('qemu-img', ['check', at('os.qcow2')]);
  });

  it.each([
    { readOnly: false, image: false },
    { readOnly: false, image: true },
    { readOnly: true, image: false },
  ])('that a guest has open are left alone, whatever the agent knows: %j', async (how) => {
    const disk = makeDisk('d');
    await host.volumes.create(disk, how.image ? await makeImage(1) : null);
    const source = await host.volumes.locate(disk);
    const guest = await openInGuest(source, how);
    try {
      const inUse = { code: 'disk_in_use' };
      await expect(host.volumes.remove('d')).rejects.toMatchObject(inUse);
      const larger = { ...disk, sizeBytes: String(2 * GIB) };
      await expect(host.volumes.grow(larger)).rejects.toMatchObject(inUse);
      expect(await host.volumes.read('d')).toEqual({ id: 'd', sizeBytes: String(GIB) });
      expect(await host.volumes.locate(disk)).toEqual(source);
    } finally {
      await guest.close();
    }
    await host.volumes.remove('d');
    expect(await readdir(join(host.root, 'disks'))).toEqual([]);
  });

  it('that are damaged are reported as damaged, and can be removed', async () => {
    await host.volumes.create(makeDisk('os'), await makeImage(1));
    await truncate(at('os.qcow2'), 10);
    await expect(host.volumes.read('os')).rejects.toMatchObject({ code: 'disk_damaged' });
    await host.volumes.remove('os');
    expect(await host.volumes.read('os')).toBeNull();
  });

  it('whose image is gone can be removed', async () => {
    await host.volumes.create(makeDisk('os'), await makeImage(1));
    await rm(join(host.root, 'images'), { recursive: true });
    await host.volumes.remove('os');
    expect(await readdir(join(host.root, 'disks'))).toEqual([]);
  });

  it('are raw by their name, whatever a guest writes into them', async () => {
    await host.volumes.create(makeDisk('d'), null);
    const trap = join(host.root, 'trap');
    await execute('qemu-img', ['create', '-f', 'qcow2', '-b', '/etc/shadow', '-F', 'raw', trap]);
    await execute('dd', [`if=${trap}`, `of=${at('d.raw')}`, 'conv=notrunc', 'status=none']);
    expect(await host.volumes.read('d')).toEqual({ id: 'd', sizeBytes: String(GIB) });
    expect(await host.volumes.locate(makeDisk('d'))).toMatchObject({ format: 'raw' });
    await host.volumes.grow(makeDisk('d', { sizeBytes: String(2 * GIB) }));
    expect((await stat(at('d.raw'))).size).toBe(2 * GIB);
  });
});
