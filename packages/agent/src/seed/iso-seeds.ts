import { mkdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile, syncDirectory, unlessMissing } from '@gantry/daemon/durable-file';
import { HostFailure } from '../base/failure.ts';
import type { Seeds } from '../host-driver.ts';
import { renderIso9660 } from './iso9660.ts';
import type { GuestNetworkSettings } from './network-config.ts';
import { renderSeedFiles, SEED_LABEL } from './nocloud.ts';
import { isPlainId, seedProblem } from './seed-problem.ts';

export type IsoSeeds = Seeds & {
  /** Where a VM's seed lies once it was ensured. */
  path(vmId: string): string;
};

/**
 * Seeds as ISO images, <VM id>.iso each. Killed at any moment the image is the old one, the new one
 * or not there; what lies half written beside it is cleared by the next ensure or remove. A running
 * guest keeps the image it was started with.
 */
export function createSeeds(options: { directory: string } & GuestNetworkSettings): IsoSeeds {
  const { directory } = options;
  const path = (vmId: string) => {
    if (!isPlainId(vmId)) {
      throw new HostFailure('bad_vm_id', `"${vmId}" is no id of a VM: no seed can be kept for it`);
    }
    return join(directory, `${vmId}.iso`);
  };

  return {
    path,
    async ensure(vm) {
      const file = path(vm.id);
      const problem = seedProblem(vm);
      if (problem !== undefined) {
        throw new HostFailure('bad_seed', `VM ${vm.id} cannot be given a seed: ${problem}`);
      }
      const files = renderSeedFiles(vm, options);
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
  // QEMU runs as a user of its own and must be able to pass through; the images are root's.
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

/** As replaceFile names it. */
function halfWritten(file: string): string {
  return `${file}.new`;
}

async function orFailure(file: string, change: () => Promise<void>): Promise<void> {
  try {
    await change();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const advice = 'look at the room and the rights of its folder';
    throw new HostFailure('seed_failed', `the seed ${file} cannot be kept: ${reason}; ${advice}`, {
      cause: error,
    });
  }
}
