import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chmod, mkdir, open, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { syncDirectory, unlessMissing } from '@gantry/daemon/durable-file';
import { programRunner } from '../../base/run-program.ts';
import type { Platform } from '../domain-xml/domain-definition.ts';

const run = programRunner('host_failed');
/** QEMU runs as its own user and reads the files. */
const MODE = 0o644;

/**
 * Copies the firmware into the agent's directory, by content, and returns the copies. An upgrade of
 * the firmware's package replaces its files in place: a guest that restarts after a reboot of the
 * host would boot with other firmware than before. Copies are never removed, because any VM may keep
 * one; a host collects one for each upgrade of the package.
 */
export async function keepFirmware(
  { loader, nvramTemplate }: Platform['firmware'],
  directory: string,
): Promise<Platform['firmware']> {
  await mkdir(directory, { recursive: true, mode: 0o711 });
  return {
    loader: await keepFile(loader, directory),
    nvramTemplate: await keepFile(nvramTemplate, directory),
  };
}

async function keepFile(path: string, directory: string): Promise<string> {
  const copyOf = (hash: string) => join(directory, `${hash}.fd`);
  const present = copyOf(await hashOf(path));
  if (await unlessMissing(stat(present))) return present;
  // The files of arm64 are 64 MiB of mostly zeros.
  const partial = join(directory, 'partial');
  await run('cp', ['--sparse=always', '--', path, partial]);
  await chmod(partial, MODE);
  await sync(partial);
  // Named by its own content: the package may have been replaced in the meantime.
  const copy = copyOf(await hashOf(partial));
  await rename(partial, copy);
  await syncDirectory(directory);
  return copy;
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

async function sync(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
