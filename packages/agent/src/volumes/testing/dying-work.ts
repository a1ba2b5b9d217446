import fs, { type FileHandle } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import type { DiskSpec, Image } from '../../spec.ts';
import { openFileVolumes } from './file-volumes.ts';

/**
 * A process that creates a disk from an image it already has, or only fetches an image, and kills
 * itself before its n-th file system call: `node dying-work.mjs '<DyingWork>'`. It ends by itself
 * if n is beyond the last step.
 */
export type DyingWork = {
  root: string;
  killBeforeStep: number;
  disk: DiskSpec | null;
  image: Image | null;
};

type Method = (...args: unknown[]) => unknown;

const CHANGES = ['mkdir', 'mkdtemp', 'chmod', 'open', 'rename', 'rm', 'utimes', 'writeFile'];
const FILE_CHANGES = ['write', 'writeFile', 'truncate', 'chmod', 'sync'];

async function dieBeforeStep(last: number): Promise<void> {
  let step = 0;
  const count = () => {
    step += 1;
    if (step === last) process.kill(process.pid, 'SIGKILL');
  };
  const wrap = (target: object, names: readonly string[]) => {
    for (const name of names) {
      const original = Reflect.get(target, name) as Method;
      const counted = function (this: unknown, ...args: unknown[]) {
        count();
        return original.apply(this, args);
      };
      Object.defineProperty(target, name, { value: counted, configurable: true, writable: true });
    }
  };
  const handle: FileHandle = await fs.open('/dev/null', 'r');
  const prototype: object = Object.getPrototypeOf(handle);
  await handle.close();
  wrap(prototype, FILE_CHANGES);
  wrap(fs, CHANGES);
  syncBuiltinESMExports();
}

const work: DyingWork = JSON.parse(process.argv[2] ?? '');
if (work.disk) {
  const { volumes, images } = await openFileVolumes({ root: work.root });
  if (work.image) await images.fetch(work.image);
  await dieBeforeStep(work.killBeforeStep);
  await volumes.create(work.disk, work.image);
} else if (work.image) {
  await dieBeforeStep(work.killBeforeStep);
  await (await openFileVolumes({ root: work.root })).images.fetch(work.image);
}
