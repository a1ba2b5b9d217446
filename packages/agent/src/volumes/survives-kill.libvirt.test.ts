import { execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { imageOf, makeImageBytes } from '../images/testing/image-server.ts';
import type { Image } from '../spec.ts';
import { bundleProgram } from '../testing/bundle-program.ts';
import { makeDisk } from '../testing/make-spec.ts';
import type { DyingWork } from './testing/dying-work.ts';
import { openFileVolumes } from './testing/file-volumes.ts';

const execute = promisify(execFile);
const bytes = makeImageBytes(1);

let scratch = '';
let program = '';
let image: Image;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'gantry-dying-'));
  program = join(scratch, 'dying-work.mjs');
  const source = fileURLToPath(new URL('./testing/dying-work.ts', import.meta.url));
  await bundleProgram(source, program);
  const file = join(scratch, 'image.raw');
  await writeFile(file, bytes);
  image = imageOf(bytes, pathToFileURL(file).href);
});
afterAll(() => rm(scratch, { recursive: true, force: true }));

/** True: it was killed. False: it ended by itself. */
async function isKilled(work: DyingWork): Promise<boolean> {
  const child = spawn(process.execPath, [program, JSON.stringify(work)], { stdio: 'pipe' });
  let said = '';
  child.stderr.on('data', (chunk) => {
    said += chunk;
  });
  return await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (signal === 'SIGKILL') resolve(true);
      else if (code === 0) resolve(false);
      else reject(new Error(`it ended with ${code ?? signal}: ${said}`));
    });
  });
}

type Killed = Pick<DyingWork, 'disk' | 'image'> & { files: string[] };

/** Kills the process before each step, then repeats and undoes the work. Returns the number of steps. */
async function killAtEachStep({ disk, image: from, files }: Killed): Promise<number> {
  for (let step = 1; ; step += 1) {
    const root = join(scratch, `step-${step}`);
    const copy = join(scratch, `copy-${step}`);
    try {
      const killed = await isKilled({ root, killBeforeStep: step, disk, image: from });
      await execute('cp', ['-a', '--sparse=always', root, copy]).catch(() => mkdir(copy));
      await expectWhole(root, { disk, image: from, files });
      if (disk) await expectUndone(copy, { disk, image: from });
      if (!killed) return step - 1;
    } finally {
      await rm(root, { recursive: true, force: true });
      await rm(copy, { recursive: true, force: true });
    }
  }
}

/**
 * A restarted process shows no disk or the complete disk, and after a repetition only the complete
 * disk.
 */
async function expectWhole(root: string, { disk, image: from, files }: Killed): Promise<void> {
  const { volumes, images, list } = await openFileVolumes({ root });
  if (disk) {
    const whole = { id: disk.id, sizeBytes: disk.sizeBytes };
    expect([null, whole]).toContainEqual(await volumes.read(disk.id));
    await volumes.create(disk, from);
    expect(await volumes.read(disk.id)).toEqual(whole);
  } else if (from) {
    expect((await readFile((await images.fetch(from)).path)).equals(bytes)).toBe(true);
  }
  expect(await list()).toEqual(files);
  if (disk && from) await execute('qemu-img', ['check', join(root, `disks/${disk.id}.qcow2`)]);
}

/** A restarted process that removes an unfinished disk leaves nothing of it. */
async function expectUndone(
  root: string,
  { disk, image: from }: Pick<DyingWork, 'disk' | 'image'>,
): Promise<void> {
  const { volumes, list } = await openFileVolumes({ root });
  if (disk) await volumes.remove(disk.id);
  expect(await list()).toEqual(from ? [`images/${from.sha256}.img`] : []);
}

describe('killed before any step of its creation, then repeated or removed,', () => {
  it('an empty disk is complete and alone, or gone', async () => {
    const killed = { disk: makeDisk('d'), image: null, files: ['disks/d.raw'] };
    expect(await killAtEachStep(killed)).toBeGreaterThan(6);
  });

  it('a disk from an image is complete and alone, or gone', async () => {
    const files = ['disks/d.qcow2', `images/${image.sha256}.img`];
    expect(await killAtEachStep({ disk: makeDisk('d'), image, files })).toBeGreaterThan(6);
  });

  it('a shared volume is complete and alone, or gone', async () => {
    const disk = makeDisk('d', { kind: 'DISK_KIND_SHARED_VOLUME' });
    const killed = { disk, image: null, files: ['shared/d/volume.json'] };
    expect(await killAtEachStep(killed)).toBeGreaterThan(8);
  });

  it('an image is complete and alone', async () => {
    const killed = { disk: null, image, files: [`images/${image.sha256}.img`] };
    expect(await killAtEachStep(killed)).toBeGreaterThan(6);
  });
});
