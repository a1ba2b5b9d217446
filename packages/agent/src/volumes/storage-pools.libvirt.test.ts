import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { MIB } from '@gantry/daemon/units';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readStoragePools } from './storage-pools.ts';

const execute = promisify(execFile);
let root = '';

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'gantry-pools-'));
  for (const [name, size] of Object.entries({ volumes: '64m', shared: '32m' })) {
    await mkdir(join(root, name));
    await execute('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'gantry-test', join(root, name)]);
  }
});
afterEach(async () => {
  for (const name of ['volumes', 'shared']) await execute('umount', [join(root, name)]);
  await rm(root, { recursive: true, force: true });
});

it('two file systems are two pools, and what is written to one is missing there', async () => {
  await writeFile(join(root, 'volumes/disk.raw'), Buffer.alloc(16 * MIB, 1));
  const pools = await readStoragePools(
    {
      volumes: { driver: 'file' },
      directory: join(root, 'volumes'),
      sharedDirectory: join(root, 'shared'),
      ...{ reservePercent: 10, overcommitPercent: 200 },
    },
    { warn: expect.unreachable },
  );
  expect(pools).toMatchObject([
    {
      ...{ name: join(root, 'volumes'), diskKinds: ['DISK_KIND_PERSISTENT_SSD'] },
      ...{ sizeBytes: 64 * MIB, freeBytes: 48 * MIB, offeredBytes: Math.floor(1.9 * 64 * MIB) },
    },
    {
      ...{ name: join(root, 'shared'), diskKinds: ['DISK_KIND_SHARED_VOLUME'] },
      ...{ sizeBytes: 32 * MIB, freeBytes: 32 * MIB },
    },
  ]);
});
