import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { execute } from '../execute.ts';
import { ownName, removeAbandoned } from '../namespaces.ts';

/**
 * A file system of its own in a file. If the process is killed, the next `makeFileSystem` or `startLibvirtHost` unmounts
 * and removes it; the kernel removes the loop device with the last mount.
 */
export type TestFileSystem = {
  mountPoint: string;
  device: string;
  remove(): Promise<void>;
};

export type FileSystemOptions = {
  sizeMib: number;
  /** Absent: ext4 with project quotas, which are enforced. */
  mkfs?: readonly string[];
  mountOptions?: readonly string[];
};

const WITH_QUOTAS = ['mkfs.ext4', '-q', '-O', 'quota,project', '-E', 'quotatype=prjquota'];

export async function makeFileSystem(
  name: string,
  { sizeMib, mkfs = WITH_QUOTAS, mountOptions = ['prjquota'] }: FileSystemOptions,
): Promise<TestFileSystem> {
  await removeAbandoned();
  const directory = await mkdtemp(path.join(tmpdir(), `${ownName(name)}-`));
  const image = path.join(directory, 'image');
  const mountPoint = path.join(directory, 'mounted');
  const remove = async () => {
    // Programs that a test has ended may still be about to close their files.
    await execute('umount', '--lazy', mountPoint).catch(() => '');
    await rm(directory, { recursive: true, force: true });
  };
  try {
    await execute('truncate', '-s', `${sizeMib}M`, image);
    const [program = '', ...args] = mkfs;
    await execute(program, ...args, image);
    await mkdir(mountPoint);
    const options = ['loop', ...mountOptions].join(',');
    await execute('mount', '-o', options, image, mountPoint);
    const found = await execute('findmnt', '--noheadings', '--output', 'SOURCE', mountPoint);
    return { mountPoint, device: found.trim(), remove };
  } catch (error) {
    await remove();
    throw error;
  }
}
