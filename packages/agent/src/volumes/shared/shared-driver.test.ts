import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unlessMissing } from '@gantry/daemon/durable-file';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeDisk } from '../../testing/make-spec.ts';
import { createVolumes } from '../create-volumes.ts';
import { describeVolumesContract } from '../testing/volumes-contract.ts';
import { sharedDriver } from './shared-driver.ts';

const disk = makeDisk('d', { kind: 'DISK_KIND_SHARED_VOLUME' });
const noImages = { fetch: () => Promise.reject(), use: () => Promise.reject() };
const idle = async () => false;

let root = '';

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'gantry-shared-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

describe('shared volumes', () => {
  describeVolumesContract(async () => {
    const inUse = new Set<string>();
    return {
      volumes: createVolumes({
        driver: 'file',
        directory: join(root, 'disks'),
        sharedDirectory: join(root, 'shared'),
        images: noImages,
        isInUse: async (id) => inUse.has(id),
      }),
      kind: disk.kind,
      inUse,
      list: async () => (await unlessMissing(readdir(join(root, 'shared')))) ?? [],
    };
  });

  it('are a directory separate from Gantry’s own notes', async () => {
    const volumes = sharedDriver({ directory: root, isInUse: idle });
    await volumes.create(disk, null);
    expect(await volumes.locate(disk)).toEqual({ type: 'directory', path: join(root, 'd/data') });
    expect(await readdir(join(root, 'd/data'))).toEqual([]);
    expect((await stat(join(root, 'd'))).mode & 0o777).toBe(0o700);
  });

  it('are removed with everything that guests left, also if damaged', async () => {
    const volumes = sharedDriver({ directory: root, isInUse: idle });
    await volumes.create(disk, null);
    await mkdir(join(root, 'd/data/deep/er'), { recursive: true });
    await writeFile(join(root, 'd/data/deep/er/file'), 'text');
    await writeFile(join(root, 'd/volume.json'), '{');
    await expect(volumes.read('d')).rejects.toMatchObject({ code: 'disk_damaged' });
    await volumes.remove('d');
    expect(await readdir(root)).toEqual([]);
  });

  it('grow under guests and keep their content', async () => {
    const volumes = sharedDriver({ directory: root, isInUse: async () => true });
    await volumes.create(disk, null);
    await writeFile(join(root, 'd/data/file'), 'text');
    await volumes.prepareGrowth({ ...disk, sizeBytes: '4294967296' });
    expect(await volumes.read('d')).toEqual({ id: 'd', sizeBytes: '4294967296' });
    expect(await readdir(join(root, 'd/data'))).toEqual(['file']);
  });

  it('are created once if two hosts create one at the same time', async () => {
    const hosts = [1, 2, 3].map(() => sharedDriver({ directory: root, isInUse: idle }));
    await Promise.allSettled(hosts.map((volumes) => volumes.create(disk, null)));
    for (const volumes of hosts) await volumes.create(disk, null);
    expect(await hosts[0]?.read('d')).toEqual({ id: 'd', sizeBytes: disk.sizeBytes });
    expect(await readdir(root)).toEqual(['d']);
  });

  it('start empty', async () => {
    const volumes = sharedDriver({ directory: root, isInUse: idle });
    const image = { name: 'debian-12', url: 'https://images.test/debian-12', sha256: 'ab', id: '' };
    await expect(volumes.create(disk, image)).rejects.toMatchObject({ code: 'bad_disk' });
    expect(await readdir(root)).toEqual([]);
  });
});
