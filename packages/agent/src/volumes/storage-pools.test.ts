import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GIB } from '@gantry/daemon/units';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HostFailure } from '../base/failure.ts';
import { readStoragePools } from './storage-pools.ts';
import type { StorageSettings } from './storage-settings.ts';

let root: string;
let warnings: string[];

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'gantry-pools-'));
  warnings = [];
});
afterEach(() => rm(root, { recursive: true }));

const settingsOf = (settings: Partial<StorageSettings> = {}): StorageSettings => ({
  volumes: { driver: 'file' },
  directory: join(root, 'data/volumes'),
  sharedDirectory: join(root, 'data/shared'),
  ...{ reservePercent: 5, overcommitPercent: 100 },
  ...settings,
});

/** Replies like LVM, by the name of the program. */
const lvm = (replies: Record<string, object[]>) => async (program: string) => {
  const rows = replies[program];
  if (!rows) throw new HostFailure('storage_failed', `${program}: not found`);
  return JSON.stringify({ report: [{ [program.slice(0, 2)]: rows }] });
};

const read = (settings: StorageSettings, run = lvm({})) =>
  readStoragePools(settings, { run, warn: (message) => warnings.push(message) });

describe('the file system of disks', () => {
  it('is one pool with that of shared volumes, before its directories exist too', async () => {
    const { blocks, bsize } = await statfs(root);
    const [pool, ...others] = await read(settingsOf({ overcommitPercent: 250 }));
    expect(others).toEqual([]);
    expect(pool).toMatchObject({
      name: join(root, 'data/volumes'),
      diskKinds: ['DISK_KIND_PERSISTENT_SSD', 'DISK_KIND_SHARED_VOLUME'],
      sizeBytes: blocks * bsize,
      // Two and a half times the size, less the reserve.
      offeredBytes: Math.floor(((blocks * bsize) / 100) * 245),
    });
    expect(pool?.freeBytes).toBeGreaterThan(0);
    expect(pool?.freeBytes).toBeLessThan(blocks * bsize);
  });

  it('offers its size less the reserve by default', async () => {
    const [pool] = await read(settingsOf());
    expect(pool?.offeredBytes).toBe(Math.floor(((pool?.sizeBytes ?? 0) / 100) * 95));
  });

  it('is another pool than that of shared volumes if they are on different file systems', async () => {
    // The kernel has the second one on every host. It has no size, and so it is left out.
    const pools = await read(settingsOf({ sharedDirectory: '/proc' }));
    expect(pools.map(({ diskKinds }) => diskKinds)).toEqual([['DISK_KIND_PERSISTENT_SSD']]);
    expect(warnings).toEqual([expect.stringContaining('/proc')]);
  });
});

describe('LVM', () => {
  const lvmOf = (thinPool: string | null) =>
    settingsOf({ volumes: { driver: 'lvm', volumeGroup: 'vg', thinPool }, overcommitPercent: 300 });

  it('offers a thin pool several times', async () => {
    const lvs = [{ lv_size: String(1000 * GIB), data_percent: '40.00' }];
    const [pool] = await read(lvmOf('thin'), lvm({ lvs }));
    expect(pool).toEqual({
      ...{ name: 'vg/thin', diskKinds: ['DISK_KIND_PERSISTENT_SSD'], sizeBytes: 1000 * GIB },
      ...{ freeBytes: 600 * GIB, offeredBytes: 2950 * GIB },
    });
  });

  it('offers plain volumes what no other volume has, once', async () => {
    const volume = { lv_device_open: '', lv_size: String(100 * GIB) };
    const [pool] = await read(
      lvmOf(null),
      lvm({
        vgs: [{ vg_size: String(1000 * GIB), vg_free: String(700 * GIB) }],
        lvs: [
          { ...volume, lv_name: 'gantry-a', lv_tags: 'gantry.disk,gantry.whole' },
          { ...volume, lv_name: 'gantry-b', lv_tags: 'gantry.disk' },
          { ...volume, lv_name: 'root', lv_tags: '' },
        ],
      }),
    );
    expect(pool).toMatchObject({ name: 'vg', sizeBytes: 1000 * GIB, freeBytes: 700 * GIB });
    expect(pool?.offeredBytes).toBe(900 * GIB);
  });

  it.each([
    ['fails', {}],
    ['reports nothing', { lvs: [] }],
  ])('is left out if it %s', async (_, replies) => {
    const pools = await read(lvmOf('thin'), lvm(replies));
    expect(pools.map(({ diskKinds }) => diskKinds)).toEqual([['DISK_KIND_SHARED_VOLUME']]);
    expect(warnings).toEqual([expect.stringContaining('no size of the storage')]);
  });
});
