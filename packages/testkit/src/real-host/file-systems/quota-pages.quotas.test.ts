import { type FileHandle, mkdir, open, statfs, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { MIB } from '@gantry/daemon/units';
import { afterEach, describe, expect, test } from 'vitest';
import { documented } from '../../docs/documented.ts';
import { execute } from '../execute.ts';
import { makeFileSystem, type TestFileSystem } from './quota-file-system.ts';
import { asVirtiofsd } from './virtiofsd-rights.ts';

const PLAIN = { sizeMib: 64, mkfs: ['mkfs.ext4', '-q'], mountOptions: [] };

describe('the commands for shared volumes', () => {
  let system: TestFileSystem;
  let device: FileHandle;
  const make = async (options: Parameters<typeof makeFileSystem>[1]) => {
    system = await makeFileSystem('page', options);
    // The kernel would remove the loop device with its mount.
    device = await open(system.device);
  };
  afterEach(async () => {
    await device.close();
    await system.remove();
  });

  const run = (commands: string, variables: Record<string, string> = {}) => {
    const own = { DEVICE: system.device, DIRECTORY: system.mountPoint, ...variables };
    const environment = Object.entries(own).map(([name, value]) => `${name}=${value}`);
    return execute('env', ...environment, 'sh', '-e', '-c', commands);
  };
  const options = () => execute('findmnt', '-n', '-o', 'OPTIONS', system.mountPoint);

  test('make a file system with quotas', async () => {
    await make(PLAIN);
    await execute('umount', system.mountPoint);
    await run(documented('images-and-disks.md', 'mkfs.ext4 -O quota,project'));
    expect(await options()).toMatch(/nosuid,nodev.*prjquota/);
  });

  test('turn quotas on in a file system, and keep what is there', async () => {
    await make(PLAIN);
    await writeFile(path.join(system.mountPoint, 'kept'), '');
    expect(await options()).not.toContain('prjquota');
    await run(documented('images-and-disks.md', 'umount "$DIRECTORY"'));
    expect(await options()).toMatch(/nosuid,nodev.*prjquota/);
    expect(await execute('ls', system.mountPoint)).toContain('kept');
  });

  test('give a volume from before a project that limits all of its content', async () => {
    await make({ sizeMib: 64 });
    const data = path.join(system.mountPoint, 'd/data');
    await mkdir(path.join(data, 'deep'), { recursive: true });
    await asVirtiofsd(data, 'dd if=/dev/zero of=deep/large bs=1M count=8; ln -s deep link');
    const commands = documented('images-and-disks.md', 'repquota -P');
    expect(await run(commands, { VOLUME: 'd', PROJECT: '5000' })).toContain('#0');
    await execute('setquota', '-P', '5000', '0', '16384', '0', '0', system.mountPoint);
    const { blocks, bfree, bsize } = await statfs(data);
    expect(blocks * bsize).toBe(16 * MIB);
    expect(bfree * bsize).toBeLessThanOrEqual(8 * MIB);
    const filled = await asVirtiofsd(data, 'dd if=/dev/zero of=more bs=1M count=16; true');
    expect(filled).toMatch(/quota exceeded/i);
  });
});
