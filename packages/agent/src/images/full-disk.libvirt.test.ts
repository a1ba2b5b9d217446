import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { createLog } from '@gantry/daemon/log';
import { MIB } from '@gantry/daemon/units';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeDisk } from '../testing/make-spec.ts';
import { createVolumes } from '../volumes/create-volumes.ts';
import { openImageCache } from './image-cache.ts';
import { imageOf, makeImageBytes, startImageServer } from './testing/image-server.ts';

const execute = promisify(execFile);
const log = createLog({ process: 'test', level: 'silent' });

let root = '';
let small = '';

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'gantry-full-'));
  small = join(root, 'small');
  await mkdir(small);
  await execute('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'gantry-test', small]);
});
afterEach(async () => {
  await execute('umount', [small]);
  await rm(root, { recursive: true, force: true });
});

const openSmallCache = () =>
  openImageCache({
    ...{ directory: join(small, 'images'), limitBytes: 100 * MIB, log },
    listUsed: async () => new Set<string>(),
  });

describe('a full disk', () => {
  it('makes an image unavailable, leaves nothing behind, and accepts the next image that fits', async () => {
    const cache = await openSmallCache();
    const server = await startImageServer();
    try {
      const large = makeImageBytes(1, 4 * MIB);
      server.reply = (_, response) => response.end(large);
      await expect(cache.fetch(imageOf(large, server.url('/')))).rejects.toMatchObject({
        code: 'image_unavailable',
        message: expect.stringContaining('no space is left'),
      });
      expect(await readdir(join(small, 'images'))).toEqual([]);
      const fitting = makeImageBytes(2, MIB);
      server.reply = (_, response) => response.end(fitting);
      await cache.fetch(imageOf(fitting, server.url('/')));
    } finally {
      await server.close();
    }
  });

  it('makes a disk fail, and leaves nothing of it', async () => {
    const source = join(root, 'image');
    await writeFile(source, makeImageBytes(1, MIB));
    const images = await openSmallCache();
    const volumes = createVolumes({
      ...{ driver: 'file', directory: join(small, 'disks'), images },
      ...{ sharedDirectory: join(small, 'shared'), isInUse: async () => false },
    });
    const image = imageOf(makeImageBytes(1, MIB), pathToFileURL(source).href);
    await images.fetch(image);
    await writeFile(join(small, 'ballast'), Buffer.alloc(MIB - 65_536));
    const failure = { code: 'storage_full', message: expect.stringContaining('no space is left') };
    await expect(volumes.create(makeDisk('os'), image)).rejects.toMatchObject(failure);
    expect(await volumes.read('os')).toBeNull();
    expect(await readdir(join(small, 'disks'))).toEqual([]);
    await rm(join(small, 'ballast'));
    await volumes.create(makeDisk('os'), image);
  });

  it('is not reached by new disks, which leave a share of it to the disks that exist', async () => {
    const volumes = createVolumes({
      ...{ driver: 'file', directory: join(small, 'disks'), images: await openSmallCache() },
      ...{ sharedDirectory: join(small, 'shared'), isInUse: async () => false },
      reservePercent: 50,
    });
    await volumes.create(makeDisk('first'), null);
    await writeFile(join(small, 'ballast'), Buffer.alloc(1.2 * MIB));
    await volumes.create(makeDisk('first'), null);
    await expect(volumes.create(makeDisk('second'), null)).rejects.toMatchObject({
      code: 'storage_full',
      message: expect.stringContaining('new disks need 50 %'),
    });
    expect(await volumes.list()).toEqual(['first']);
    await rm(join(small, 'ballast'));
    await volumes.create(makeDisk('second'), null);
  });
});
