import { mkdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile, syncDirectory, unlessMissing } from '@gantry/daemon/durable-file';
import { HostFailure } from '../base/failure.ts';
import type { Seeds } from '../host-driver.ts';
import { renderIso9660 } from './iso9660.ts';
import type { NameServers } from './network-config.ts';
import { renderSeedFiles, SEED_LABEL } from './nocloud.ts';
import { isPlainId, seedProblem } from './seed-problem.ts';

export type IsoSeeds = Seeds & {
  /** Returns the path of a VM's seed. */
  path(vmId: string): string;
};

type SeedOptions = { directory: string; nameservers: NameServers; mtu: number };

/**
 * Seeds as ISO images, one file <VM id>.iso each. After a crash the image is the old one, the new
 * one or absent; the next `ensure` or `remove` deletes partial files. A running guest keeps the
 * image it was started with.
 */
export function createSeeds(options: SeedOptions): IsoSeeds {
  const { directory, mtu } = options;
  const path = (vmId: string) => {
    if (!isPlainId(vmId)) {
      throw new HostFailure(
        'bad_vm_id',
        `"${vmId}" is not a valid VM id, so it cannot have a seed`,
      );
    }
    return join(directory, `${vmId}.iso`);
  };

  return {
    path,
    async ensure(vm) {
      const file = path(vm.id);
      const problem = seedProblem(vm);
      if (problem !== undefined) {
        throw new HostFailure('bad_seed', `the seed of VM ${vm.id} cannot be written: ${problem}`);
      }
      const nameservers = await options.nameservers();
      const files = renderSeedFiles(vm, { nameservers, mtu });
      const image = renderIso9660({ label: SEED_LABEL, files });
      await orFailure(file, () => ensureFile({ directory, file, content: image }));
    },
    async remove(vmId) {
      const file = path(vmId);
      await orFailure(file, () => removeFile({ directory, file }));
    },
  };
}

type Place = { directory: string; file: string };

async function ensureFile({ directory, file, content }: Place & { content: Buffer }) {
  // QEMU's user may pass through the directory; the images belong to root.
  await mkdir(directory, { recursive: true, mode: 0o711 });
  if (await isThere(file, content)) {
    await rm(halfWritten(file), { force: true });
    return;
  }
  try {
    await replaceFile(file, content, 0o600);
  } catch (error) {
    await rm(halfWritten(file), { force: true });
    throw error;
  }
}

async function isThere(file: string, content: Buffer): Promise<boolean> {
  const current = await unlessMissing(readFile(file));
  if (!current?.equals(content)) return false;
  return ((await stat(file)).mode & 0o077) === 0;
}

async function removeFile({ directory, file }: Place) {
  await rm(file, { force: true });
  await rm(halfWritten(file), { force: true });
  await unlessMissing(syncDirectory(directory));
}

/** The temporary name that replaceFile uses. */
function halfWritten(file: string): string {
  return `${file}.new`;
}

async function orFailure(file: string, change: () => Promise<void>): Promise<void> {
  try {
    await change();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const advice = 'check the free space and the permissions of its directory';
    throw new HostFailure(
      'seed_failed',
      `the seed ${file} cannot be written: ${reason}; ${advice}`,
      {
        cause: error,
      },
    );
  }
}
